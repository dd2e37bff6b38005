/** From a commit to what is to run: its configuration read, compiled, and decided upon. */
import type { Platform } from '../access/call.ts';
import { anonymous } from '../access/viewer.ts';
import type { Conditions } from '../ci_file/conditions.ts';
import type { Plan } from '../ci_file/plan.ts';
import type { Problem } from '../ci_file/problem.ts';
import { type Origin, configPathOf, fetchFrom, readProjectConfig, readableCode } from './ci_files.ts';
import { type Occasion, conditionsFor } from './conditions.ts';
import { readConfig } from './read_config.ts';

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
  const read = await readProjectConfig(origin);
  if ('text' in read) return read;
  return read.problem === 'missing' ? { refused: missingFile } : { faulty: [unreadable] };
};

const decide = async (
  platform: Platform,
  { code, commit, maker, left }: Occasion,
  content: string,
  conditions: Conditions,
): Promise<Outcome> => {
  // Not the path of the project's file: a part may include that.
  const path = left === undefined ? configPathOf(code.project) : 'trigger';
  const origin: Origin = { code, commit: commit.id };
  const sources = { origins: platform.config.ci_include_origins, left };
  const fetch = fetchFrom(readableCode(platform, maker?.viewer ?? anonymous), sources);
  const owner = `project ${code.project.id}`;
  const wish = { jobs: 'plan', merged: false } as const;
  const { errors, planned } = await readConfig({ content, path, origin, fetch, conditions }, wish, owner);
  if (planned === null) return { faulty: errors.slice(0, mostErrors).map((error) => textOf(error, path)) };
  if ('plan' in planned) return planned;
  const { refused, text } = planned.unplanned;
  return refused === 'error' ? { faulty: [text] } : { refused: text };
};

/** What the configuration makes of the occasion. */
export const plannedFor = async (platform: Platform, occasion: Occasion, content: string): Promise<Outcome> =>
  await decide(platform, occasion, content, await conditionsFor(platform, occasion));
