/** Valid attributes of a runner. Pure. */
import type { Selectable } from 'kysely';
import type { RunnersTable } from '../../platform/db/schema/runners.ts';
import { type Problems, invalid } from '../../platform/errors.ts';

export type RunnerRow = Selectable<RunnersTable>;

export const runnerTypes = ['instance_type', 'group_type', 'project_type'] as const;
export const accessLevels = ['not_protected', 'ref_protected'] as const;

/** Attributes that users and programs set. */
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

export const defaultFacts: RunnerFacts = {
  description: null,
  maintenance_note: null,
  active: 1,
  locked: 0,
  run_untagged: 1,
  tag_list: '[]',
  access_level: 'not_protected',
  maximum_timeout: null,
};

const maxTags = 50;
/** Seconds. */
const shortestTimeout = 600;

/** Formats tags for storage: sorted, without duplicates, as JSON. */
export const formatTags = (tags: readonly string[]): string => JSON.stringify([...new Set(tags)].toSorted());

export const parseTags = ({ tag_list }: { tag_list: string }): string[] => JSON.parse(tag_list) as string[];

const tagProblems = (facts: RunnerFacts): string[] => {
  const tags = parseTags(facts);
  if (tags.length > maxTags)
    return [`Too many tags specified. Please limit the number of tags to ${maxTags}`];
  if (tags.length === 0 && facts.run_untagged === 0)
    return ['can not be empty when runner is not allowed to pick untagged jobs'];
  return [];
};

/** @throws Failure 400 by attribute */
export const checkRunner = (facts: RunnerFacts): void => {
  const { maximum_timeout } = facts;
  const tooShort = maximum_timeout !== null && maximum_timeout < shortestTimeout;
  const fieldProblems: Problems = {
    tags_list: tagProblems(facts),
    maximum_timeout: tooShort ? ['needs to be at least 10 minutes'] : [],
  };
  const problems = Object.entries(fieldProblems).filter(([, texts]) => texts.length > 0);
  if (problems.length > 0) throw invalid(Object.fromEntries(problems));
};
