/** What a runner may be. Pure. */
import type { Selectable } from 'kysely';
import type { RunnersTable } from '../db/schema_ci.ts';
import { type Problems, invalid } from '../errors.ts';

export type RunnerRow = Selectable<RunnersTable>;

export const runnerTypes = ['instance_type', 'group_type', 'project_type'] as const;
export const accessLevels = ['not_protected', 'ref_protected'] as const;

/** What people and programs say of a runner; all else follows from it. */
export type RunnerFacts = Pick<
  RunnerRow,
  | 'description'
  | 'maintenance_note'
  | 'active'
  | 'locked'
  | 'run_untagged'
  | 'tag_list'
  | 'access_level'
  | 'maximum_timeout'
>;

export const freshFacts: RunnerFacts = {
  description: null,
  maintenance_note: null,
  active: 1,
  locked: 0,
  run_untagged: 1,
  tag_list: '[]',
  access_level: 'not_protected',
  maximum_timeout: null,
};

const mostTags = 50;
/** Seconds. */
const shortestTimeout = 600;

/** As they are stored: sorted, each once. */
export const tagText = (tags: readonly string[]): string => JSON.stringify([...new Set(tags)].toSorted());

export const tagsOf = ({ tag_list }: { tag_list: string }): string[] => JSON.parse(tag_list) as string[];

const tagProblems = (facts: RunnerFacts): string[] => {
  const tags = tagsOf(facts);
  if (tags.length > mostTags)
    return [`Too many tags specified. Please limit the number of tags to ${mostTags}`];
  if (tags.length === 0 && facts.run_untagged === 0)
    return ['can not be empty when runner is not allowed to pick untagged jobs'];
  return [];
};

/** @throws Failure 400 by attribute */
export const checkRunner = (facts: RunnerFacts): void => {
  const { maximum_timeout } = facts;
  const tooShort = maximum_timeout !== null && maximum_timeout < shortestTimeout;
  const found: Problems = {
    tags_list: tagProblems(facts),
    maximum_timeout: tooShort ? ['needs to be at least 10 minutes'] : [],
  };
  const problems = Object.entries(found).filter(([, texts]) => texts.length > 0);
  if (problems.length > 0) throw invalid(Object.fromEntries(problems));
};
