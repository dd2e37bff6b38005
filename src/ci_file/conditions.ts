/** What a pipeline is made for, by which rules decide. */
import type { Values } from './expand.ts';
import type { Effort } from './expression/evaluate.ts';
import type { Limits } from './limits.ts';

export type Conditions = {
  /** `CI_PIPELINE_SOURCE`. */
  source: string;
  /** Short name of the branch or tag; of a merge request, its source branch. */
  ref: string;
  ref_type: 'branch' | 'tag' | 'merge_request';
  /** Full path of the project. */
  project_path: string;
  /** Below what the file says. */
  predefined: Values;
  /** Above what the file says: of the project, its groups, the instance, a trigger, a person. */
  variables: Values;
  /** Every path of the commit. Asked for only where a rule says `exists`. */
  files?: () => Promise<readonly string[]>;
  /**
   * The paths that changed, against a ref or against what was before (null); null: nothing is known, which counts as
   * a change of everything. Asked for only where a rule says `changes`.
   */
  changed?: (compareTo: string | null) => Promise<readonly string[] | null>;
};

/** What deciding has cost so far, and what need not be found out again. One for each pipeline or include. */
export type Work = Effort & { matched: Map<string, boolean> };

export const newWork = ({ steps }: Limits): Work => ({ left: steps, matched: new Map() });

/** What was asked of `files` and `changed`. */
export type Facts = {
  files: readonly string[] | null;
  changed: ReadonlyMap<string | null, readonly string[] | null>;
};

type Asking = { changes: { compare_to: string | null } | null; exists: unknown };

/** Asks what these rules want to know, each thing once. */
export const factsFor = async (conditions: Conditions, rules: readonly Asking[]): Promise<Facts> => {
  const bases = new Set(rules.flatMap(({ changes }) => (changes === null ? [] : [changes.compare_to])));
  const wantsFiles = rules.some(({ exists }) => exists !== null);
  const files = wantsFiles ? ((await conditions.files?.()) ?? null) : null;
  const changed = await Promise.all(
    [...bases].map(async (base): Promise<[string | null, readonly string[] | null]> => [
      base,
      (await conditions.changed?.(base)) ?? null,
    ]),
  );
  return { files, changed: new Map(changed) };
};
