/** The conditions of a pipeline that rules are evaluated against. */
import type { Values } from './syntax/expand_variables.ts';
import type { StepBudget } from './expression/evaluate.ts';
import type { Limits } from './syntax/limits.ts';

export type Conditions = {
  /** `CI_PIPELINE_SOURCE`. */
  source: string;
  /** Short name of the branch or tag; for a merge request, its source branch. */
  ref: string;
  ref_type: 'branch' | 'tag' | 'merge_request';
  /** Full path of the project. */
  project_path: string;
  /** Lower precedence than variables of the file. */
  predefined: Values;
  /** Higher precedence than variables of the file: of instance, groups, project, trigger and user. */
  variables: Values;
  /** Lists the paths of the commit. Called only if a rule uses `exists`. */
  files?: () => Promise<readonly string[]>;
  /**
   * Lists the changed paths, compared with a ref or with the previous commit (null). A null result counts as a change of
   * everything. Called only if a rule uses `changes`.
   */
  changed?: (compareTo: string | null) => Promise<readonly string[] | null>;
};

/** Remaining steps and cached matches of one pipeline or include. */
export type Budget = StepBudget & { matched: Map<string, boolean> };

export const newBudget = ({ steps }: Limits): Budget => ({ left: steps, matched: new Map() });

/** Results of `files` and `changed`. */
export type Facts = {
  files: readonly string[] | null;
  changed: ReadonlyMap<string | null, readonly string[] | null>;
};

type RuleWithFacts = { changes: { compare_to: string | null } | null; exists: unknown };

/** Loads the facts that these rules need, each once. */
export const collectFacts = async (
  conditions: Conditions,
  rules: readonly RuleWithFacts[],
): Promise<Facts> => {
  const bases = new Set(rules.flatMap(({ changes }) => (changes === null ? [] : [changes.compare_to])));
  const needsFiles = rules.some(({ exists }) => exists !== null);
  const files = needsFiles ? ((await conditions.files?.()) ?? null) : null;
  const changed = await Promise.all(
    [...bases].map(async (base): Promise<[string | null, readonly string[] | null]> => [
      base,
      (await conditions.changed?.(base)) ?? null,
    ]),
  );
  return { files, changed: new Map(changed) };
};
