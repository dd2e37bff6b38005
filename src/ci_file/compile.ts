/** Text of `.gitlab-ci.yml` -> what it says. Nothing here asks a database, the network or the clock. */
import { type Conditions, newWork } from './conditions.ts';
import { TooExpensive } from './expression/evaluate.ts';
import { resolveExtends } from './extends.ts';
import { type Including, withIncludes } from './include.ts';
import type { Fetch } from './include_wanted.ts';
import { contentOf } from './inputs.ts';
import { type Limits, pastLimit, withinLimits } from './limits.ts';
import { loadYaml } from './load.ts';
import type { Hash } from './node.ts';
import type { Compiled, Config, Included } from './plan_types.ts';
import { CiFileError, type Problems, collectProblems } from './problem.ts';
import { resolveReferences } from './reference.ts';
import { readRoot } from './root.ts';

export type Source = {
  content: string;
  /** Of the file, as messages name it. */
  path: string;
  /** What `fetch` is given for the includes of this file. */
  origin: unknown;
  fetch: Fetch;
  conditions: Conditions;
  limits: Limits;
};

const isFine = ({ errors }: Problems): boolean => errors.length === 0;

const contentOfSource = ({ content, path, limits }: Source, problems: Problems): Hash | null => {
  if (content.length > limits.text) throw pastLimit(limits);
  if (content.trim() === '') {
    problems.error('Please provide content of .gitlab-ci.yml', null);
    return null;
  }
  const documents = loadYaml(path, content, problems);
  const place = { file: path, line: 1, column: 1 };
  const root = documents && contentOf({ file: path, problems, place }, documents, null);
  if (root === null || root.kind === 'hash') return root;
  problems.error('Invalid configuration format', root.place);
  return null;
};

const wholeOf = async (source: Source, problems: Problems, includes: Included[]): Promise<Hash | null> => {
  const content = contentOfSource(source, problems);
  if (!isFine(problems)) return null;
  const { fetch, conditions, path, origin, limits } = source;
  const text = source.content.length;
  const work = newWork(limits);
  const including: Including = { fetch, conditions, problems, includes, work, limits, files: 0, text };
  const whole = await withIncludes(including, content, { name: path, origin, chain: [path] });
  if (whole === null || !isFine(problems)) return null;
  const extended = resolveExtends(withinLimits(whole, limits), problems);
  if (!isFine(problems)) return null;
  const resolved = resolveReferences(withinLimits(extended, limits), problems);
  return isFine(problems) ? withinLimits(resolved, limits) : null;
};

type Read = { config: Config | null; root: Hash | null };

const read = async (source: Source, problems: Problems, includes: Included[]): Promise<Read> => {
  const nothing: Read = { config: null, root: null };
  try {
    const root = await wholeOf(source, problems, includes);
    if (root === null) return nothing;
    return { config: readRoot(root, problems, { left: source.limits.steps }), root };
  } catch (error) {
    // A tree deeper than the stack is one of nobody's good will.
    const isTooMuch = error instanceof RangeError || error instanceof TooExpensive;
    const problem = isTooMuch ? pastLimit(source.limits) : error;
    if (!(problem instanceof CiFileError)) throw problem;
    problems.error(problem.problem.text, problem.problem.place, problem.problem.old_text);
    return nothing;
  }
};

/**
 * All that is wrong with a file is in the answer; nothing is thrown for it.
 * @throws TooHeavy past brief limits
 */
export const compile = async (source: Source): Promise<Compiled> => {
  const problems = collectProblems();
  const includes: Included[] = [];
  const { config, root } = await read(source, problems, includes);
  const { errors, warnings } = problems;
  return { config: errors.length === 0 ? config : null, errors, warnings, includes, root };
};
