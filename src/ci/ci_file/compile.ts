/** Compiles the text of `.gitlab-ci.yml` to a configuration. Uses no database, network or clock. */
import { type Conditions, newBudget } from './conditions.ts';
import { TooExpensive } from './expression/evaluate.ts';
import { resolveExtends } from './syntax/extends.ts';
import { type IncludeState, resolveIncludes } from './include/include.ts';
import type { Fetch } from './include/included_files.ts';
import { applyInputs } from './keywords/inputs.ts';
import { type Limits, limitError, requireWithinLimits } from './syntax/limits.ts';
import { loadYaml } from './syntax/load_yaml.ts';
import type { Hash } from './syntax/node.ts';
import type { Compiled, Config, Included } from './config_types.ts';
import { CiFileError, type Problems, collectProblems } from './syntax/problems.ts';
import { resolveReferences } from './syntax/references.ts';
import { readRoot } from './keywords/root.ts';

export type Source = {
  content: string;
  /** Path of the file in messages. */
  path: string;
  /** Passed to `fetch` for the includes of this file. */
  origin: unknown;
  fetch: Fetch;
  conditions: Conditions;
  limits: Limits;
};

const hasNoErrors = ({ errors }: Problems): boolean => errors.length === 0;

const loadContent = ({ content, path, limits }: Source, problems: Problems): Hash | null => {
  if (content.length > limits.text) throw limitError(limits);
  if (content.trim() === '') {
    problems.error('Please provide content of .gitlab-ci.yml', null);
    return null;
  }
  const documents = loadYaml(path, content, problems);
  const position = { file: path, line: 1, column: 1 };
  const root = documents && applyInputs({ file: path, problems, position }, documents, null);
  if (root === null || root.kind === 'hash') return root;
  problems.error('Invalid configuration format', root.position);
  return null;
};

const mergeConfig = async (
  source: Source,
  problems: Problems,
  includes: Included[],
): Promise<Hash | null> => {
  const content = loadContent(source, problems);
  if (!hasNoErrors(problems)) return null;
  const { fetch, conditions, path, origin, limits } = source;
  const text = source.content.length;
  const budget = newBudget(limits);
  const state: IncludeState = { fetch, conditions, problems, includes, budget, limits, files: 0, text };
  const merged = await resolveIncludes(state, content, { name: path, origin, chain: [path] });
  if (merged === null || !hasNoErrors(problems)) return null;
  const extended = resolveExtends(requireWithinLimits(merged, limits), problems);
  if (!hasNoErrors(problems)) return null;
  const resolved = resolveReferences(requireWithinLimits(extended, limits), problems);
  return hasNoErrors(problems) ? requireWithinLimits(resolved, limits) : null;
};

type CompileResult = { config: Config | null; root: Hash | null };

const readConfig = async (
  source: Source,
  problems: Problems,
  includes: Included[],
): Promise<CompileResult> => {
  const failed: CompileResult = { config: null, root: null };
  try {
    const root = await mergeConfig(source, problems, includes);
    if (root === null) return failed;
    return { config: readRoot(root, problems, { left: source.limits.steps }), root };
  } catch (error) {
    // Only a hostile file has a tree deeper than the stack.
    const exceedsLimits = error instanceof RangeError || error instanceof TooExpensive;
    const problem = exceedsLimits ? limitError(source.limits) : error;
    if (!(problem instanceof CiFileError)) throw problem;
    problems.error(problem.problem.text, problem.problem.position, problem.problem.old_text);
    return failed;
  }
};

/**
 * Compiles a file. Errors of the file are returned, not thrown.
 * @throws TooHeavy if the limits are brief and it exceeds them
 */
export const compile = async (source: Source): Promise<Compiled> => {
  const problems = collectProblems();
  const includes: Included[] = [];
  const { config, root } = await readConfig(source, problems, includes);
  const { errors, warnings } = problems;
  return { config: errors.length === 0 ? config : null, errors, warnings, includes, root };
};
