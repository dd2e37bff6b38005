/** What a list leaves out: `not[labels]=bug&not[author_username]=ada`. */
import { type RawBuilder, sql } from 'kysely';
import { invalid } from '../errors.ts';
import { array, hash, int, string, unsupportedFilter } from '../http/schema.ts';
import { type Listed, column, linksOf } from './listed.ts';

type Condition = RawBuilder<boolean>;

const mostNames = 100;
const longestName = 255;

const shared = {
  labels: string,
  milestone: string,
  author_id: int,
  author_username: string,
  assignee_id: int,
  assignee_username: array(string),
  my_reaction_emoji: string,
};

/** Parts that would leave more out than the list does. */
const unsupported = ['search', 'in', 'iids', 'milestone_id', 'weight', 'epic_id', 'health_status'].concat([
  'iteration_id',
  'iteration_title',
]);
const refused = Object.fromEntries(unsupported.map((name) => [name, unsupportedFilter()]));

export const notParam = hash(
  { ...shared, ...refused },
  'what is left out: any of these labels, this milestone, this author, these assignees, this reaction of the caller',
);

/** The same for merge requests. */
export const notParamWithReviewers = hash(
  { ...shared, ...refused, reviewer_id: int, reviewer_username: string },
  'what is left out: as for issues, and this reviewer',
);

type Parts = Record<string, unknown>;

const fail = (name: string) => invalid({ [name]: ['is invalid'] });

const partsOf = (given: unknown): Parts => {
  if (given === null || given === '') return {};
  if (typeof given !== 'object' || Array.isArray(given)) throw fail('not');
  return given as Parts;
};

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= longestName && value.isWellFormed() && !value.includes('\0');

/** One text with commas, or several; none: there are no such. */
const namesOf = (parts: Parts, name: string): string[] => {
  const given = parts[name] ?? [];
  const all: unknown[] = typeof given === 'string' ? given.split(',') : Array.isArray(given) ? given : [null];
  if (all.length > mostNames || !all.every(isName)) throw fail(`not[${name}]`);
  return all.map((one) => one.trim()).filter((one) => one !== '');
};

const nameOf = (parts: Parts, name: string): string[] => {
  const value = parts[name] ?? '';
  if (!isName(value)) throw fail(`not[${name}]`);
  return value === '' ? [] : [value];
};

const idOf = (parts: Parts, name: string): number[] => {
  const value = parts[name] ?? '';
  if (value === '') return [];
  const isId = (typeof value === 'string' || typeof value === 'number') && /^\d{1,15}$/.test(String(value));
  if (!isId) throw fail(`not[${name}]`);
  return [Number(value)];
};

/** Of one part, where there is something in it. */
const unless = <T>(values: T[], condition: (values: T[]) => Condition): Condition[] =>
  values.length === 0 ? [] : [condition(values)];

const usersOf = (names: string[]) =>
  sql`select id from users where lower(username) in (${sql.join(names.map((name) => name.toLowerCase()))})`;

/** @throws Failure 400 for a part that cannot be read */
export const leftOut = (kind: Listed, given: unknown, userId: number): Condition[] => {
  if (given === undefined) return [];
  const parts = partsOf(given);
  const unread = unsupported.find((name) => ![undefined, null, ''].includes(parts[name] as undefined));
  if (unread !== undefined) throw invalid({ [`not[${unread}]`]: ['is a filter that is not supported'] });
  const [id, author, milestone] = [
    column(kind, 'id'),
    column(kind, 'author_id'),
    column(kind, 'milestone_id'),
  ];
  const links = linksOf(kind, 'label_links');
  const withUser = (table: 'assignees' | 'reviewers', users: RawBuilder<unknown>) =>
    sql<boolean>`exists (select 1 from ${linksOf(kind, table)} and ${sql.ref(`${table}.user_id`)} in (${users}))`;
  return [
    ...unless(
      namesOf(parts, 'labels'),
      (titles) => sql`not exists (select 1 from ${links}
        and label_links.label_id in (select id from labels where title in (${sql.join(titles)})))`,
    ),
    ...unless(
      nameOf(parts, 'milestone'),
      ([title]) =>
        sql`(${milestone} is null or ${milestone} not in (select id from milestones where title = ${title}))`,
    ),
    ...unless(idOf(parts, 'author_id'), ([user]) => sql`${author} <> ${user}`),
    ...unless(nameOf(parts, 'author_username'), (names) => sql`${author} not in (${usersOf(names)})`),
    ...unless(idOf(parts, 'assignee_id'), ([user]) => sql`not ${withUser('assignees', sql`${user}`)}`),
    ...unless(
      namesOf(parts, 'assignee_username'),
      (names) => sql`not ${withUser('assignees', usersOf(names))}`,
    ),
    ...(kind.type === 'MergeRequest'
      ? [
          ...unless(idOf(parts, 'reviewer_id'), ([user]) => sql`not ${withUser('reviewers', sql`${user}`)}`),
          ...unless(
            nameOf(parts, 'reviewer_username'),
            (names) => sql`not ${withUser('reviewers', usersOf(names))}`,
          ),
        ]
      : []),
    ...unless(
      nameOf(parts, 'my_reaction_emoji'),
      ([name]) => sql`${id} not in (select target_id from award_emoji
        where user_id = ${userId} and target_type = ${sql.lit(kind.type)} and name = ${name})`,
    ),
  ];
};
