/** What a list's parameters select: the same rules for every list of issues or merge requests. */
import { type RawBuilder, sql } from 'kysely';
import { allOf } from '../access/visible.ts';
import type { Words } from '../db/engine.ts';
import { invalid } from '../errors.ts';
import { boolean, idOrWord, integers, names, oneOf, optional, text, time } from '../http/schema.ts';
import { leftOut, notParam } from './filters_not.ts';
import { type Listed, column, linksOf } from './listed.ts';
import {
  type MilestoneContext,
  type MilestoneWord,
  among,
  isMilestoneWord,
  milestoneWords,
} from './milestone_words.ts';
import { type Measured, type NameKind, type Named, type Names, type Wanted, personKey } from './named.ts';
import { type SearchField, searchFields } from './search.ts';

type Condition = RawBuilder<boolean>;

export const scopes = ['created-by-me', 'assigned-to-me', 'all'] as const;
export const scopeAliases = { created_by_me: 'created-by-me', assigned_to_me: 'assigned-to-me' } as const;
export const nobody = ['None', 'Any'] as const;

export const sharedFilterParams = {
  labels: optional(names({ description: 'names, all of which it must have; None, Any' })),
  milestone: optional(text({ description: 'title; None, Any, #upcoming, #started' })),
  author_id: optional(idOrWord([], 'created by this user')),
  author_username: optional(text()),
  assignee_id: optional(idOrWord(nobody, 'assigned to this user; 0 or None, Any')),
  assignee_username: optional(names()),
  my_reaction_emoji: optional(text({ description: 'what the caller reacted to with it; None, Any' })),
  iids: optional(integers()),
  search: optional(text({ description: 'words that the title or the description has' })),
  in: optional(names({ description: 'what `search` looks in: title, description; both by default' })),
  created_after: optional(time('inclusive')),
  created_before: optional(time('inclusive')),
  updated_after: optional(time('inclusive')),
  updated_before: optional(time('inclusive')),
  non_archived: optional(boolean({ description: 'only of projects that are not archived' })),
  not: optional(notParam),
  order_by: oneOf(['created_at', 'updated_at'], { default: 'created_at' }),
  sort: oneOf(['asc', 'desc'], { default: 'desc' }),
};

export const scopeParam = (options: { default?: 'created-by-me' } = {}) =>
  oneOf(scopes, { ...options, aliases: scopeAliases });

export type Filters = {
  scope: (typeof scopes)[number] | 'reviews-for-me';
  state: string;
  labels?: string[];
  milestone?: string;
  author_id?: number;
  author_username?: string;
  assignee_id?: number | 'None' | 'Any';
  assignee_username?: string[];
  reviewer_id?: number | 'None' | 'Any';
  reviewer_username?: string;
  my_reaction_emoji?: string;
  iids?: number[];
  search?: string;
  in?: string[];
  created_after?: number;
  created_before?: number;
  updated_after?: number;
  updated_before?: number;
  non_archived?: boolean;
  /** As it was sent. */
  not?: unknown;
  /** The id of the milestone that the list belongs to, or a word of the parameter. */
  milestone_id?: number | MilestoneWord;
  order_by: 'created_at' | 'updated_at';
  sort: 'asc' | 'desc';
};

/**
 * The fields that `search` looks in.
 * @throws Failure 400 where `in` names another
 */
export const searchedFields = ({ in: chosen = [] }: Filters): readonly SearchField[] => {
  if (chosen.length === 0) return searchFields;
  const isField = (name: string): name is SearchField => searchFields.some((field) => field === name);
  const fields = chosen.filter(isField);
  if (fields.length < chosen.length) throw invalid({ in: ['does not have a valid value'] });
  return [...new Set(fields)];
};

const isNoLabel = among(['none', 'no label', 'no+label']);
const isAnyLabel = among(['any', 'any label']);

/** Titles of labels, all of which a record must have. */
const titlesOf = ({ labels = [] }: Filters): string[] =>
  labels.some(isNoLabel) ? [] : [...new Set(labels.filter((title) => !isAnyLabel(title)))];

const milestonesOf = ({ milestone = '' }: Filters): string[] =>
  milestone === '' || isMilestoneWord(milestone) ? [] : [milestone];

const authorsOf = ({ scope, author_id, author_username }: Filters, userId: number): (number | string)[] => [
  ...(scope === 'created-by-me' ? [userId] : []),
  ...(author_id === undefined ? [] : [author_id]),
  ...(author_username ? [author_username] : []),
];

const assigneesOf = ({ scope, assignee_id, assignee_username = [] }: Filters, userId: number) => [
  ...(scope === 'assigned-to-me' ? [userId] : []),
  ...(typeof assignee_id === 'number' && assignee_id !== 0 ? [assignee_id] : []),
  ...assignee_username,
];

const reviewersOf = ({ scope, reviewer_id, reviewer_username }: Filters, userId: number) => [
  ...(scope === 'reviews-for-me' ? [userId] : []),
  ...(typeof reviewer_id === 'number' && reviewer_id !== 0 ? [reviewer_id] : []),
  ...(reviewer_username ? [reviewer_username] : []),
];

const within = (column: RawBuilder<unknown>, after?: number, before?: number): Condition[] => [
  ...(after === undefined ? [] : [sql<boolean>`${column} >= ${after}`]),
  ...(before === undefined ? [] : [sql<boolean>`${column} <= ${before}`]),
];

const created = (kind: Listed, { created_after, created_before }: Filters): Condition[] =>
  within(column(kind, 'created_at'), created_after, created_before);
const updated = (kind: Listed, { updated_after, updated_before }: Filters): Condition[] =>
  within(column(kind, 'updated_at'), updated_after, updated_before);

/** The state and order of a list decide between the indexes of a time. */
export const indexOfTime = (
  { table }: Listed,
  name: 'created_at' | 'updated_at',
  { state, isInProject }: { state: string; isInProject: boolean },
): string => {
  const word = name === 'created_at' ? 'created' : 'updated';
  if (!isInProject) return `${table}_all_${word}`;
  return state === 'all' ? `${table}_${word}` : `${table}_state_${word}`;
};

/** A period in the column that the list is not in the order of. */
const periodOf = (kind: Listed, filters: Filters, isInProject: boolean): Measured[] => {
  const isCreated = filters.order_by === 'created_at';
  const conditions = isCreated ? updated(kind, filters) : created(kind, filters);
  if (conditions.length === 0) return [];
  const other = isCreated ? 'updated_at' : 'created_at';
  const index = indexOfTime(kind, other, { state: filters.state, isInProject });
  return [{ name: 'period', condition: allOf(conditions), index }];
};

/** What of the filters has to be looked up. */
export const wantedOf = (kind: Listed, filters: Filters, { userId, project, measured }: Asking): Wanted => ({
  labels: titlesOf(filters),
  milestones: milestonesOf(filters),
  authors: authorsOf(filters, userId),
  assignees: assigneesOf(filters, userId),
  reviewers: reviewersOf(filters, userId),
  measured: [...periodOf(kind, filters, project !== null), ...measured],
});

type Asking = {
  userId: number;
  /** Of which the list is; null: of many. */
  project: { id: number } | null;
  /** What else the kind's own filters ask of its own columns. */
  measured: Measured[];
};

const labelWords = (kind: Listed, { labels = [] }: Filters): Condition[] => {
  const links = linksOf(kind, 'label_links');
  if (labels.some(isNoLabel)) return [sql`not exists (select 1 from ${links})`];
  return labels.some(isAnyLabel) ? [sql`exists (select 1 from ${links})`] : [];
};

const peopleWords = (
  kind: Listed,
  table: 'assignees' | 'reviewers',
  user: number | 'None' | 'Any' | undefined,
): Condition[] => {
  const links = linksOf(kind, table);
  if (user === 'None' || user === 0) return [sql`not exists (select 1 from ${links})`];
  return user === 'Any' ? [sql`exists (select 1 from ${links})`] : [];
};

const reactions = (kind: Listed, { my_reaction_emoji = '' }: Filters, userId: number): Condition[] => {
  if (my_reaction_emoji === '') return [];
  const id = column(kind, 'id');
  const awards = sql`select target_id from award_emoji
    where user_id = ${userId} and target_type = ${sql.lit(kind.type)}`;
  const word = my_reaction_emoji.toLowerCase();
  if (word === 'none') return [sql`${id} not in (${awards})`];
  if (word === 'any') return [sql`${id} in (${awards})`];
  return [sql`${id} in (${awards} and name = ${my_reaction_emoji})`];
};

/** What is on the milestone that the list is of: few of all, mostly. */
export const onMilestone = (kind: Listed, { milestone_id }: Filters): Measured[] => {
  if (typeof milestone_id !== 'number') return [];
  const condition: Condition = sql`${column(kind, 'milestone_id')} = ${milestone_id}`;
  return [{ name: 'on milestone', condition, index: `${kind.table}_milestone` }];
};

/** A record that one listed must have, or be of. */
export type Needed = { kind: Exclude<NameKind, 'measured'>; named: Named; condition: Condition };

/** What the filters name, each with its condition. */
const neededOf = (listed: Listed, { names, words, wanted }: FilterContext): Needed[] => {
  const need = (kind: Needed['kind'], name: string, condition: (named: Named) => Condition): Needed => {
    const named = names(kind, name);
    return { kind, named, condition: condition(named) };
  };
  const links = linksOf(listed, 'label_links');
  const [milestoneId, authorId] = [column(listed, 'milestone_id'), column(listed, 'author_id')];
  const { labels, milestones, authors } = wanted;
  const linkedPeople = (kind: 'assignee' | 'reviewer', table: 'assignees' | 'reviewers'): Needed[] =>
    wanted[table].map((user) =>
      need(
        kind,
        personKey(user),
        ({ ids }) =>
          sql`exists (select 1 from ${linksOf(listed, table)} and ${sql.ref(`${table}.user_id`)} = ${ids[0] ?? 0})`,
      ),
    );
  const linked = (title: string): Needed =>
    need(
      'label',
      title,
      ({ ids }) => sql`exists (select 1 from ${links} and ${words.oneOf('label_links.label_id', ids)})`,
    );
  return [
    ...labels.map(linked),
    ...milestones.map((title) =>
      // One id by itself keeps the order of the milestone's index.
      need('milestone', title, ({ ids }) =>
        ids.length === 1 ? sql`${milestoneId} = ${ids[0]}` : words.oneOf(`${listed.table}.milestone_id`, ids),
      ),
    ),
    ...authors.map((user) => need('author', personKey(user), ({ ids }) => sql`${authorId} = ${ids[0] ?? 0}`)),
    ...linkedPeople('assignee', 'assignees'),
    ...linkedPeople('reviewer', 'reviewers'),
  ];
};

export type FilterContext = MilestoneContext & {
  names: Names;
  words: Words;
  userId: number;
  wanted: Wanted;
  /** What the kind's own filters ask for. */
  own: Condition[];
};

export type Selection = { needed: Needed[]; others: Condition[] };

/** The conditions that the filters make, but the search; null: nothing has what they name. */
export const selectionOf = (kind: Listed, filters: Filters, context: FilterContext): Selection | null => {
  const needed = neededOf(kind, context);
  if (needed.some(({ named }) => named.ids.length === 0)) return null;
  const others = [
    ...created(kind, filters),
    ...updated(kind, filters),
    ...labelWords(kind, filters),
    ...milestoneWords(kind, filters, context),
    ...peopleWords(kind, 'assignees', filters.assignee_id),
    ...peopleWords(kind, 'reviewers', filters.reviewer_id),
    ...reactions(kind, filters, context.userId),
    ...leftOut(kind, filters.not, context.userId),
  ];
  if (filters.state !== 'all') others.push(sql`${column(kind, 'state')} = ${filters.state}`);
  others.push(...context.own);
  if (filters.non_archived === true) {
    others.push(sql`${column(kind, 'project_id')} in (select id from projects where archived = 0)`);
  }
  if (filters.iids !== undefined && filters.iids.length > 0) {
    others.push(context.words.oneOf(`${kind.table}.iid`, filters.iids));
  }
  return { needed, others };
};
