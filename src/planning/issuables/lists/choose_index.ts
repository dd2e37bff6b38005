/** Chooses how to read a list: along the index of its order, or from the most selective filter, followed by a sort. */
import { type RawBuilder, sql } from 'kysely';
import type { SqlDialect } from '../../../platform/db/engine.ts';
import type { Filters } from './filter_params.ts';
import { type RequiredMatch, type Selection, indexOfOrder } from './filters.ts';
import { type Listed, column, findOrderIndex, orderTerms } from './record_kinds.ts';
import { many } from './named_filters.ts';

export type Lead = {
  /** Tables in the order in which they are read, including the kind's own. */
  tables: RawBuilder<unknown>;
  /** The tables include `projects`. */
  hasProjects?: true;
  /** All records are read, and sorted. */
  isSorted?: true;
  /** Join conditions and filter conditions. */
  conditions: RawBuilder<boolean>[];
  /** With directions. */
  order: RawBuilder<unknown>[];
};

type Parts = {
  kind: Listed;
  filters: Filters;
  selection: Selection;
  dialect: SqlDialect;
  isInProject: boolean;
  /** Conditions with an index, and the number of records they select. */
  indexed: { index: string; isCovering: boolean; uses: number }[];
  /** Only the number of records is read. */
  isCount?: true;
};

const byRecord = ({ kind, filters }: Parts): Lead['order'] => orderTerms(kind, filters);

/** Appends the direction of the list. */
const directed = ({ filters }: Parts, term: RawBuilder<unknown>): RawBuilder<unknown> =>
  filters.sort === 'asc' ? term : sql`${term} desc`;

const toConditions = ({ required, others }: Selection, but?: RequiredMatch): RawBuilder<boolean>[] => [
  ...required.filter((one) => one !== but).map(({ condition }) => condition),
  ...others,
];

const linkTables = {
  label: ['label_links', 'label_id'],
  assignee: ['assignees', 'user_id'],
  reviewer: ['reviewers', 'user_id'],
} as const;

/** Reads along links, whose rows repeat the creation time of their record. */
const alongLinks = (link: keyof typeof linkTables, match: RequiredMatch, parts: Parts): Lead => {
  const [table, linked] = linkTables[link];
  const { kind, filters, selection, dialect, isCount = false } = parts;
  // SQLite prefers the table to a covering index. The condition matches the condition of the partial index.
  const covering = isCount ? dialect.indexedBy(`${kind.table}_linked`) : sql``;
  const covered = isCount && dialect.engine === 'sqlite' ? [sql<boolean>`${column(kind, 'id')} > 0`] : [];
  return {
    tables: sql`${sql.table(table)} as led cross join ${sql.raw(kind.table)} ${covering}`,
    conditions: [
      sql`led.target_type = ${sql.lit(kind.type)} and led.${sql.ref(linked)} = ${match.named.ids[0]}`,
      // The plus keeps SQLite from concluding `led.target_id > 0`, and from reading all links in that order.
      covered.length > 0
        ? sql`${column(kind, 'id')} = +led.target_id`
        : sql`${column(kind, 'id')} = led.target_id`,
      ...covered,
      ...toConditions(selection, match),
    ],
    order:
      filters.order_by === 'created_at'
        ? [directed(parts, sql`led.target_created_at`), directed(parts, sql`led.target_id`)]
        : byRecord(parts),
  };
};

/** Reads the few records that have one of several links. A record may have more than one of these. */
const alongAnyLink = (link: keyof typeof linkTables, match: RequiredMatch, parts: Parts): Lead => {
  const [table, linked] = linkTables[link];
  const { kind, selection, dialect } = parts;
  const isLinked = dialect.oneOf(`${table}.${linked}`, match.named.ids);
  return {
    tables: sql`(select distinct target_id from ${sql.table(table)}
      where target_type = ${sql.lit(kind.type)} and ${isLinked}) as led cross join ${sql.raw(kind.table)}`,
    conditions: [sql`${column(kind, 'id')} = led.target_id`, ...toConditions(selection, match)],
    order: byRecord(parts),
  };
};

/**
 * The order of an index. PostgreSQL does not conclude from `deleted_at is null` that the column is the same in all
 * rows; without it in the order, it would read and sort every record of the project.
 */
const byIndex = (parts: Parts): Lead['order'] =>
  parts.dialect.engine === 'postgres'
    ? [directed(parts, column(parts.kind, 'deleted_at')), ...byRecord(parts)]
    : byRecord(parts);

const alongIndex = (index: string, parts: Parts): Lead => ({
  tables: sql`${sql.raw(parts.kind.table)} ${parts.dialect.indexedBy(index)}`,
  conditions: toConditions(parts.selection),
  order: byIndex(parts),
});

/**
 * Reads a covering index of a filter, and sorts. PostgreSQL would prefer to read in order, and skip all records if the
 * matches come last: no index has the order of an expression.
 */
const alongCovering = (index: string, parts: Parts): Lead => {
  const { kind, filters, dialect } = parts;
  const isIndexed = dialect.engine === 'postgres' && findOrderIndex(filters) === null;
  const [first, ...others] = orderTerms(kind, { ...filters, sort: 'asc' });
  const order = isIndexed
    ? [sql`${first} + 0`, ...others].map((term) => directed(parts, term))
    : byRecord(parts);
  return { ...alongIndex(index, parts), order };
};

/**
 * Reads along the index that has the order of one project, or what is sorted. Lists of several projects read these
 * indexes project by project, and sort.
 */
const alongOrder = (parts: Parts): Lead => {
  const { kind, filters, isInProject, dialect } = parts;
  const order = findOrderIndex(filters);
  if (order === null)
    return alongIndex(indexOfOrder(kind, filters.order_by, { state: filters.state, isInProject }), parts);
  const index = `${kind.table}_${order.word}`;
  if (isInProject && order.isSorted !== true) return alongIndex(index, parts);
  const sorted = { ...alongIndex(index, parts), order: byRecord(parts), isSorted: true } as const;
  return isInProject
    ? sorted
    : {
        ...sorted,
        tables: sql`projects cross join ${sql.raw(kind.table)} ${dialect.indexedBy(index)}`,
        hasProjects: true,
      };
};

const along = (match: RequiredMatch, parts: Parts): Lead => {
  const { table } = parts.kind;
  switch (match.kind) {
    case 'label':
    case 'assignee':
    case 'reviewer':
      return (match.named.ids.length > 1 ? alongAnyLink : alongLinks)(match.kind, match, parts);
    case 'milestone':
      return alongIndex(`${table}_milestone`, parts);
    default:
      return alongIndex(parts.isInProject ? `${table}_project_author` : `${table}_author`, parts);
  }
};

/** Returns whether the engine chooses the index: it estimates the selectivity of these filters best. */
const isLeftToEngine = ({ iids = [], search = '', my_reaction_emoji = '' }: Filters): boolean =>
  iids.length > 0 || search !== '' || !['', 'none'].includes(my_reaction_emoji.toLowerCase());

const findMostSelective = (some: RequiredMatch[]): RequiredMatch | undefined =>
  some
    .filter(({ named, isAny }) => named.ids.length === 1 || (isAny === true && named.uses < many))
    .toSorted((a, b) => a.named.uses - b.named.uses)[0];

/** Returns whether a filter selects fewer than `many` records. */
export const isRare = ({
  filters,
  selection,
  indexed,
}: Pick<Parts, 'filters' | 'selection' | 'indexed'>): boolean =>
  (filters.iids ?? []).length > 0 ||
  [...selection.required.map(({ named }) => named), ...indexed].some(({ uses }) => uses < many);

/** Chooses the index of a count. No order is needed, so a selective index beats an ordered one. */
export const chooseCountLead = (list: Parts): Lead => {
  const isUsual = findOrderIndex(list.filters) === null;
  const parts = isUsual ? list : { ...list, filters: { ...list.filters, order_by: 'created_at' as const } };
  const [period] = parts.indexed;
  const isNamed = parts.selection.required.length > 0 || isRare(parts) || isLeftToEngine(parts.filters);
  return period === undefined || isNamed
    ? chooseLead({ ...parts, isCount: true })
    : alongIndex(period.index, parts);
};

/**
 * Chooses the table and index to read first. The most selective filter leads a list in the order of creation, because
 * its index has that order. It leads other lists only if it selects so few records that sorting them is cheap. A
 * covering index of a filter leads instead of the order, along which a page might pass over all records.
 */
export const chooseLead = (parts: Parts): Lead => {
  const { kind, filters, selection, isInProject } = parts;
  // At most as many records as there are iids: the engines do not know how few, and would scan.
  if (isInProject && (filters.iids ?? []).length > 0) return alongIndex(`${kind.table}_iid`, parts);
  const match = findMostSelective(selection.required);
  const uses = match === undefined ? many : match.named.uses;
  const [rare] = parts.indexed.toSorted((a, b) => a.uses - b.uses);
  if (rare !== undefined && rare.uses < uses)
    return (rare.isCovering ? alongCovering : alongIndex)(rare.index, parts);
  if (match !== undefined && (filters.order_by === 'created_at' || uses < many)) return along(match, parts);
  if (isLeftToEngine(filters)) {
    return {
      tables: sql.raw(kind.table),
      conditions: toConditions(selection),
      order: byRecord(parts),
    };
  }
  const covering = parts.indexed.find(({ isCovering }) => isCovering);
  if (covering !== undefined) return alongCovering(covering.index, parts);
  return alongOrder(parts);
};
