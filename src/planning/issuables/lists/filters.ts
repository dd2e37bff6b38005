/** Turns the parameters of a list into SQL conditions, for all lists of issues and merge requests. */
import { type RawBuilder, sql } from 'kysely';
import { allOf } from '../../../core/access/visible.ts';
import type { SqlDialect } from '../../../platform/db/engine.ts';
import type { Filters } from './filter_params.ts';
import { type Alternatives, readAlternatives } from './hash_filters/alternative_filters.ts';
import { excludedConditions } from './hash_filters/excluded_filters.ts';
import { type Listed, type OrderName, column, linkCondition } from './record_kinds.ts';
import { type MilestoneContext, among, isMilestoneWord, milestoneWords } from './milestone_wildcards.ts';
import {
  type IndexedCondition,
  type NameKind,
  type Named,
  type Names,
  type NamedFilters,
  labelKey,
  personKey,
} from './named_filters.ts';

type Condition = RawBuilder<boolean>;

const isNoLabel = among(['none', 'no label', 'no+label']);
const isAnyLabel = among(['any', 'any label']);

/** Titles and ids of labels. A record must have all of them. */
const listLabels = ({ labels = [], having }: Filters): (number | string)[] => [
  ...(labels.some(isNoLabel) ? [] : new Set(labels.filter((title) => !isAnyLabel(title)))),
  ...new Set(having?.label_ids),
];

const listMilestones = ({ milestone = '' }: Filters): string[] =>
  milestone === '' || isMilestoneWord(milestone) ? [] : [milestone];

const listAuthors = ({ scope, author_id, author_username }: Filters, userId: number): (number | string)[] => [
  ...(scope === 'created-by-me' ? [userId] : []),
  ...(author_id === undefined ? [] : [author_id]),
  ...(author_username ? [author_username] : []),
];

const listAssignees = ({ scope, assignee_id, assignee_username = [], having }: Filters, userId: number) => [
  ...(having?.assignee_ids ?? []),
  ...(scope === 'assigned-to-me' ? [userId] : []),
  ...(typeof assignee_id === 'number' && assignee_id !== 0 ? [assignee_id] : []),
  ...assignee_username,
];

const listReviewers = ({ scope, reviewer_id, reviewer_username }: Filters, userId: number) => [
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

const closed = (kind: Listed, { closed_after, closed_before }: Filters): Condition[] =>
  within(column(kind, 'closed_at'), closed_after, closed_before);

const indexWords: Readonly<Partial<Record<OrderName, string>>> = {
  created_at: 'created',
  weight: 'created',
  updated_at: 'updated',
  relative_position: 'position',
};

/** Returns the index that has an order, which depends on the state and the place of the list. */
export const indexOfOrder = (
  { table }: Listed,
  name: OrderName,
  { state, isInProject }: { state: string; isInProject: boolean },
): string => {
  const word = indexWords[name] ?? 'created';
  if (!isInProject) return `${table}_all_${word}`;
  return state === 'all' ? `${table}_${word}` : `${table}_state_${word}`;
};

/** Returns the conditions on times in columns that the list is not ordered by. */
const toPeriods = (kind: Listed, filters: Filters, isInProject: boolean): IndexedCondition[] => {
  const periods = { created_at: created(kind, filters), updated_at: updated(kind, filters) };
  return (['created_at', 'updated_at'] as const).flatMap((name) => {
    if (name === filters.order_by || periods[name].length === 0) return [];
    const index = indexOfOrder(kind, name, { state: filters.state, isInProject });
    return [{ name: `period ${name}`, condition: allOf(periods[name]), index }];
  });
};

/** Collects the names in the filters that need a lookup. */
export const toNamedFilters = (
  kind: Listed,
  filters: Filters,
  { userId, project, indexed }: FilterRequest,
): NamedFilters => ({
  labels: listLabels(filters),
  milestones: listMilestones(filters),
  authors: listAuthors(filters, userId),
  assignees: listAssignees(filters, userId),
  reviewers: listReviewers(filters, userId),
  alternatives: readAlternatives(kind, filters.or),
  indexed: [...toPeriods(kind, filters, project !== null), ...indexed],
});

type FilterRequest = {
  userId: number;
  /** Project of the list; null for a list of several projects. */
  project: { id: number } | null;
  /** Additional conditions of filters that exist for this record kind only. */
  indexed: IndexedCondition[];
};

const labelWildcardConditions = (kind: Listed, { labels = [] }: Filters): Condition[] => {
  const links = linkCondition(kind, 'label_links');
  if (labels.some(isNoLabel)) return [sql`not exists (select 1 from ${links})`];
  return labels.some(isAnyLabel) ? [sql`exists (select 1 from ${links})`] : [];
};

const userWildcardConditions = (
  kind: Listed,
  table: 'assignees' | 'reviewers',
  user: number | 'None' | 'Any' | undefined,
): Condition[] => {
  const links = linkCondition(kind, table);
  if (user === 'None' || user === 0) return [sql`not exists (select 1 from ${links})`];
  return user === 'Any' ? [sql`exists (select 1 from ${links})`] : [];
};

const reactionConditions = (
  kind: Listed,
  { my_reaction_emoji = '' }: Filters,
  userId: number,
): Condition[] => {
  if (my_reaction_emoji === '') return [];
  const id = column(kind, 'id');
  const awards = sql`select target_id from award_emoji
    where user_id = ${userId} and target_type = ${sql.lit(kind.type)}`;
  const word = my_reaction_emoji.toLowerCase();
  if (word === 'none') return [sql`${id} not in (${awards})`];
  if (word === 'any') return [sql`${id} in (${awards})`];
  return [sql`${id} in (${awards} and name = ${my_reaction_emoji})`];
};

/** Selects the records of the milestones that the list is limited to: mostly few records. */
export const milestoneConditions = (kind: Listed, { milestone_id, having }: Filters): IndexedCondition[] => {
  const ids = new Set(having?.milestone_ids);
  if (typeof milestone_id === 'number') ids.add(milestone_id);
  return [...ids].map((id) => ({
    name: `on milestone ${id}`,
    condition: sql<boolean>`${column(kind, 'milestone_id')} = ${id}`,
    index: `${kind.table}_milestone`,
  }));
};

/** Returns the condition on these ids; none if there are no ids. */
const unlessEmpty = (
  ids: readonly number[],
  toCondition: (ids: readonly number[]) => Condition,
): Condition[] => (ids.length === 0 ? [] : [toCondition(ids)]);

/** Excludes the records with one of these labels, users or milestones. */
const exclusionConditions = (kind: Listed, { without }: Filters, dialect: SqlDialect): Condition[] => {
  if (without === undefined) return [];
  const links = linkCondition(kind, 'label_links');
  const users = linkCondition(kind, 'assignees');
  const milestoneId = column(kind, 'milestone_id');
  return [
    ...unlessEmpty(
      without.label_ids,
      (ids) => sql`not exists (select 1 from ${links} and ${dialect.oneOf('label_links.label_id', ids)})`,
    ),
    ...unlessEmpty(
      without.assignee_ids,
      (ids) => sql`not exists (select 1 from ${users} and ${dialect.oneOf('assignees.user_id', ids)})`,
    ),
    ...unlessEmpty(
      without.milestone_ids,
      (ids) => sql`(${milestoneId} is null or not ${dialect.oneOf(`${kind.table}.milestone_id`, ids)})`,
    ),
  ];
};

/** A label, user or milestone that the filters name, with the condition that a listed record has it. */
export type RequiredMatch = {
  kind: Exclude<NameKind, 'indexed'>;
  named: Named;
  condition: Condition;
  /** A match with one of several records is enough. */
  isAny?: true;
};

/** Returns the matches that `or[...]` filters require: each with one of the records with these names. */
const listAlternatives = (
  listed: Listed,
  { names, dialect }: Pick<FilterContext, 'names' | 'dialect'>,
  { labels, authors, assignees, reviewers }: Alternatives,
): RequiredMatch[] => {
  const requireAny = (
    kind: RequiredMatch['kind'],
    keys: readonly string[],
    condition: (ids: number[]) => Condition,
  ): RequiredMatch[] => {
    if (keys.length === 0) return [];
    const namedSets = keys.map((key) => names(kind, key));
    const ids = [...new Set(namedSets.flatMap((one) => one.ids))];
    const named = { ids, uses: namedSets.reduce((sum, { uses }) => sum + uses, 0) };
    return [{ kind, named, condition: condition(ids), isAny: true }];
  };
  const linkedToOne =
    (table: 'label_links' | 'assignees' | 'reviewers', linked: string) =>
    (ids: number[]): Condition =>
      sql`exists (select 1 from ${linkCondition(listed, table)} and ${dialect.oneOf(`${table}.${linked}`, ids)})`;
  // One id by itself keeps the order of the author's index.
  const authoredBy = (ids: number[]): Condition =>
    ids.length === 1
      ? sql`${column(listed, 'author_id')} = ${ids[0]}`
      : dialect.oneOf(`${listed.table}.author_id`, ids);
  const people = (users: readonly string[]): string[] => [...new Set(users.map(personKey))];
  return [
    ...requireAny('label', labels.map(labelKey), linkedToOne('label_links', 'label_id')),
    ...requireAny('author', people(authors), authoredBy),
    ...requireAny('assignee', people(assignees), linkedToOne('assignees', 'user_id')),
    ...requireAny('reviewer', people(reviewers), linkedToOne('reviewers', 'user_id')),
  ];
};

/** Lists the records that the filters name, each with its condition. */
const listRequired = (listed: Listed, { names, dialect, requested }: FilterContext): RequiredMatch[] => {
  const requireMatch = (
    kind: RequiredMatch['kind'],
    name: string,
    condition: (named: Named) => Condition,
  ): RequiredMatch => {
    const named = names(kind, name);
    return { kind, named, condition: condition(named) };
  };
  const links = linkCondition(listed, 'label_links');
  const [milestoneId, authorId] = [column(listed, 'milestone_id'), column(listed, 'author_id')];
  const { labels, milestones, authors, alternatives } = requested;
  const linkedPeople = (kind: 'assignee' | 'reviewer', table: 'assignees' | 'reviewers'): RequiredMatch[] =>
    requested[table].map((user) =>
      requireMatch(
        kind,
        personKey(user),
        ({ ids }) =>
          sql`exists (select 1 from ${linkCondition(listed, table)} and ${sql.ref(`${table}.user_id`)} = ${ids[0] ?? 0})`,
      ),
    );
  const linked = (label: number | string): RequiredMatch =>
    requireMatch(
      'label',
      labelKey(label),
      ({ ids }) => sql`exists (select 1 from ${links} and ${dialect.oneOf('label_links.label_id', ids)})`,
    );
  return [
    ...labels.map(linked),
    ...milestones.map((title) =>
      // One id by itself keeps the order of the milestone's index.
      requireMatch('milestone', title, ({ ids }) =>
        ids.length === 1
          ? sql`${milestoneId} = ${ids[0]}`
          : dialect.oneOf(`${listed.table}.milestone_id`, ids),
      ),
    ),
    ...authors.map((user) =>
      requireMatch('author', personKey(user), ({ ids }) => sql`${authorId} = ${ids[0] ?? 0}`),
    ),
    ...linkedPeople('assignee', 'assignees'),
    ...linkedPeople('reviewer', 'reviewers'),
    ...listAlternatives(listed, { names, dialect }, alternatives),
  ];
};

export type FilterContext = MilestoneContext & {
  names: Names;
  dialect: SqlDialect;
  userId: number;
  requested: NamedFilters;
  /** Conditions of the kind's own filters. */
  own: Condition[];
};

export type Selection = { required: RequiredMatch[]; others: Condition[] };

/** Returns the conditions of the filters without the search; null if no record can match. */
export const buildSelection = (kind: Listed, filters: Filters, context: FilterContext): Selection | null => {
  const required = listRequired(kind, context);
  if (required.some(({ named }) => named.ids.length === 0)) return null;
  const others = [
    ...created(kind, filters),
    ...updated(kind, filters),
    ...closed(kind, filters),
    ...labelWildcardConditions(kind, filters),
    ...milestoneWords(kind, filters, context),
    ...userWildcardConditions(kind, 'assignees', filters.assignee_id),
    ...userWildcardConditions(kind, 'reviewers', filters.reviewer_id),
    ...reactionConditions(kind, filters, context.userId),
    ...excludedConditions(kind, filters.not, context.userId),
    ...exclusionConditions(kind, filters, context.dialect),
  ];
  if (filters.state !== 'all') others.push(sql`${column(kind, 'state')} = ${filters.state}`);
  others.push(...context.own);
  if (filters.non_archived === true) {
    others.push(sql`${column(kind, 'project_id')} in (select id from projects where archived = 0)`);
  }
  if (filters.iids !== undefined && filters.iids.length > 0) {
    others.push(context.dialect.oneOf(`${kind.table}.iid`, filters.iids));
  }
  return { required, others };
};
