/** Parses the excluding filters of lists: `not[labels]=bug&not[author_username]=ada`. */
import { type RawBuilder, sql } from 'kysely';
import { invalid } from '../../../../platform/errors.ts';
import { array, hash, int, string, unsupportedFilter } from '../../../../platform/http/schema.ts';
import { type SearchField, missedBySearch, searchFields } from '../../search/search.ts';
import { type Listed, column, linkCondition } from '../record_kinds.ts';
import { type Parts, failPart, isName, readNames as readNamesOf, readParts } from './read_parts.ts';

type Condition = RawBuilder<boolean>;

const shared = {
  labels: string,
  milestone: string,
  author_id: int,
  author_username: string,
  assignee_id: int,
  assignee_username: array(string),
  my_reaction_emoji: string,
  iids: array(int),
  search: string,
  in: string,
};

/** Parts that would leave more out than the list does. */
const unsupported = ['milestone_id', 'weight', 'epic_id', 'health_status'].concat([
  'iteration_id',
  'iteration_title',
]);
const refused = Object.fromEntries(unsupported.map((name) => [name, unsupportedFilter()]));

export const notParam = hash(
  { ...shared, ...refused },
  "exclusions: labels, milestone, authors, assignees, the caller's reaction, iids, `search` matches",
);

/** The same for merge requests. */
export const notParamWithReviewers = hash(
  { ...shared, ...refused, reviewer_id: int, reviewer_username: string },
  'exclusions: as for issues, and reviewers',
);

const fail = (name: string) => failPart({ of: 'not', name });

const readNames = (parts: Parts, name: string): string[] => readNamesOf(parts, { of: 'not', name });

const readName = (parts: Parts, name: string): string[] => {
  const value = parts[name] ?? '';
  if (!isName(value)) throw fail(name);
  return value === '' ? [] : [value];
};

const readId = (parts: Parts, name: string): number[] => {
  const value = parts[name] ?? '';
  if (value === '') return [];
  const isId = (typeof value === 'string' || typeof value === 'number') && /^\d{1,15}$/.test(String(value));
  if (!isId) throw fail(name);
  return [Number(value)];
};

const readIids = (parts: Parts): number[] =>
  readNames({ iids: [parts['iids'] ?? []].flat().map(String) }, 'iids').map((iid) => {
    if (!/^\d{1,15}$/.test(iid)) throw fail('iids');
    return Number(iid);
  });

/** `not[in]` limits the fields of `not[search]`. */
const unsearched = ({ type }: Listed, parts: Parts): Condition[] => {
  const fields = readNames(parts, 'in');
  const isField = (name: string): name is SearchField => searchFields.some((field) => field === name);
  if (!fields.every(isField)) throw invalid({ 'not[in]': ['does not have a valid value'] });
  const [text = ''] = readName(parts, 'search');
  const missed = missedBySearch(type, text, fields.length === 0 ? searchFields : fields);
  return missed === null ? [] : [missed];
};

/** Returns the condition that the values make; none for no values. */
const unless = <T>(values: T[], condition: (values: T[]) => Condition): Condition[] =>
  values.length === 0 ? [] : [condition(values)];

const toUserFilter = (names: string[]) =>
  sql`select id from users where lower(username) in (${sql.join(names.map((name) => name.toLowerCase()))})`;

/** Returns the conditions of the excluding filters. @throws Failure 400 for an invalid part */
export const excludedConditions = (kind: Listed, input: unknown, userId: number): Condition[] => {
  if (input === undefined) return [];
  const parts = readParts('not', input);
  const unread = unsupported.find((name) => ![undefined, null, ''].includes(parts[name] as undefined));
  if (unread !== undefined) throw invalid({ [`not[${unread}]`]: ['is a filter that is not supported'] });
  const [id, author, milestone] = [
    column(kind, 'id'),
    column(kind, 'author_id'),
    column(kind, 'milestone_id'),
  ];
  const links = linkCondition(kind, 'label_links');
  const withUser = (table: 'assignees' | 'reviewers', users: RawBuilder<unknown>) =>
    sql<boolean>`exists (select 1 from ${linkCondition(kind, table)} and ${sql.ref(`${table}.user_id`)} in (${users}))`;
  return [
    ...unsearched(kind, parts),
    ...unless(readIids(parts), (iids) => sql`${column(kind, 'iid')} not in (${sql.join(iids)})`),
    ...unless(
      readNames(parts, 'labels'),
      (titles) => sql`not exists (select 1 from ${links}
        and label_links.label_id in (select id from labels where title in (${sql.join(titles)})))`,
    ),
    ...unless(
      readName(parts, 'milestone'),
      ([title]) =>
        sql`(${milestone} is null or ${milestone} not in (select id from milestones where title = ${title}))`,
    ),
    ...unless(readId(parts, 'author_id'), ([user]) => sql`${author} <> ${user}`),
    ...unless(readNames(parts, 'author_username'), (names) => sql`${author} not in (${toUserFilter(names)})`),
    ...unless(readId(parts, 'assignee_id'), ([user]) => sql`not ${withUser('assignees', sql`${user}`)}`),
    ...unless(
      readNames(parts, 'assignee_username'),
      (names) => sql`not ${withUser('assignees', toUserFilter(names))}`,
    ),
    ...(kind.type === 'MergeRequest'
      ? [
          ...unless(
            readId(parts, 'reviewer_id'),
            ([user]) => sql`not ${withUser('reviewers', sql`${user}`)}`,
          ),
          ...unless(
            readNames(parts, 'reviewer_username'),
            (names) => sql`not ${withUser('reviewers', toUserFilter(names))}`,
          ),
        ]
      : []),
    ...unless(
      readName(parts, 'my_reaction_emoji'),
      ([name]) => sql`${id} not in (select target_id from award_emoji
        where user_id = ${userId} and target_type = ${sql.lit(kind.type)} and name = ${name})`,
    ),
  ];
};
