/** From a commit to what is to run: its configuration read, compiled, and decided upon. */
import type { Platform } from '../access/call.ts';
import { anonymous } from '../access/viewer.ts';
import type { Conditions } from '../ci_file/conditions.ts';
import type { Plan } from '../ci_file/plan.ts';
import type { Problem } from '../ci_file/problem.ts';
import { type Origin, configPathOf, fetchFrom, readText, readableCode } from './ci_files.ts';
import { type Occasion, conditionsFor } from './conditions.ts';

/** `faulty`: the pipeline fails before it begins; `refused`: there is none. */
export type Outcome = { plan: Plan } | { faulty: string[] } | { refused: string };

const missingFile = 'Missing .gitlab-ci.yml file';
const unreadable = 'The configuration is not a text, or too big!';
const mostErrors = 20;

const textOf = ({ text, place }: Problem, path: string): string => {
  if (place === null) return text;
  const where = place.file === path ? '' : `${place.file}: `;
  return `${where}${text} (line ${place.line})`;
};

type Content = { text: string } | Exclude<Outcome, { plan: Plan }>;

/** The text of the configuration at a commit. */
export const contentAt = async (origin: Origin): Promise<Content> => {
  const read = await readText(origin, configPathOf(origin.code.project));
  if ('text' in read) return read;
  return read.problem === 'missing' ? { refused: missingFile } : { faulty: [unreadable] };
};

const decide = async (
  platform: Platform,
  { code, commit, maker }: Occasion,
  content: string,
  conditions: Conditions,
): Promise<Outcome> => {
  const [{ compile }, { askFacts, plan }] = await Promise.all([
    import('../ci_file/compile.ts'),
    import('../ci_file/plan.ts'),
  ]);
  const path = configPathOf(code.project);
  const origin: Origin = { code, commit: commit.id };
  const fetch = fetchFrom(readableCode(platform, maker?.viewer ?? anonymous));
  const compiled = await compile({ content, path, origin, fetch, conditions });
  const { config, errors } = compiled;
  if (config === null) return { faulty: errors.slice(0, mostErrors).map((error) => textOf(error, path)) };
  const planned = plan(config, conditions, await askFacts(config, conditions));
  if ('plan' in planned) return planned;
  const { refused, text } = planned.unplanned;
  return refused === 'error' ? { faulty: [text] } : { refused: text };
};

/** What the configuration makes of the occasion. */
export const plannedFor = async (platform: Platform, occasion: Occasion, content: string): Promise<Outcome> =>
  await decide(platform, occasion, content, await conditionsFor(platform, occasion));
