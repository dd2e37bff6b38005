/** Lists issues or merge requests: one page, and the exact number of all matches. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { type Viewer, today } from '../../../core/access/viewer.ts';
import { allOf, anyOf } from '../../../core/access/visible.ts';
import type { SqlDialect } from '../../../platform/db/engine.ts';
import type { JsonText } from '../../../platform/http/endpoint.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import { type Owner, availableTo } from '../../../projects/labels/project_or_group.ts';
import { selectAncestors, selectDescendants } from '../../../identity/namespaces/ancestors.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { type ColumnCount, columnCounts } from './column_counts.ts';
import {
  type Filters,
  type RecordIds,
  type Selection,
  onMilestone,
  searchedFields,
  buildSelection,
  toNamedFilters,
} from './filters.ts';
import { readMany } from './count.ts';
import { type Lead, isRare, chooseLead, leadOfCount } from './leading_index.ts';
import { type Listed, column } from './record_kinds.ts';
import { type Measured, lookUp, many } from './named_filters.ts';
import { keptPages } from './page_cache.ts';
import { isUnindexed, searchCondition } from '../search/search.ts';
import type { TextLoader, Version } from './json_cache.ts';

type Condition = RawBuilder<boolean>;

/** Id of no user: filters by the user's own records match nothing for anonymous visitors. */
const nobodyId = 0;

const getUserId = ({ actor }: Pick<Call, 'actor'>): number => actor?.user.id ?? nobodyId;

/** Scope of a list: one project, a group with its subgroups, or everywhere. */
export type Scope = { project: Project } | { group_id: number } | 'everywhere';

export type TotalQuery = {
  /** One project whose records the caller sees; null: all projects visible to them. */
  project: Project | null;
  /** SQL condition over `projects`: the projects in the scope. */
  place: Condition[];
  state: string;
};

/** Inputs of the conditions other than the filters. */
export type ListRequester = { viewer: Viewer; dialect: SqlDialect; today: string };

/** The parts of a list that depend on the kind of record. */
export type ListKind<F extends Filters> = Listed & {
  /** Conditions of the kind's own filters. */
  own: (filters: F, asking: ListRequester) => Condition[];
  /** Whether filters select by what raises no version of a project: such lists are never cached. */
  isUnversioned?: (filters: F) => boolean;
  /** The conditions that have an index. */
  measured: (filters: F, isInProject: boolean) => Measured[];
  /** Visibility condition for a query that joins `projects`. */
  visible: (viewer: Viewer, dialect: SqlDialect) => Condition;
  /** Over records of one project that the viewer may see some of. */
  visibleIn: (viewer: Viewer, project: Project) => Condition;
  /** Whether the viewer may see any of the project. */
  isOpen: (viewer: Viewer, project: Project) => boolean;
  /** Whether the viewer may see all of the project. */
  seesAll: (viewer: Viewer, project: Project) => boolean;
  /** Columns of a record's version beside its revision, and whether the viewer sees what they count of a project. */
  shown?: {
    columns: (viewer: Viewer, project: Project | null, dialect: SqlDialect) => RawBuilder<unknown>;
    isSeen: (viewer: Viewer, project: Project) => boolean;
  };
  /** How many there are in the project. */
  size: (project: Project) => number;
  /** Exact, after visibility, without any filter but the state. */
  total: (call: Call, query: TotalQuery) => Promise<number>;
};

type Query<F> = {
  call: Call;
  scope: Scope;
  filters: F;
  page: PageRequest;
  texts: TextLoader;
  /** Records that the page is expected to pass over, where the caller knows. */
  passed?: number;
};

/** The records to read, and the index to read them along. */
type Plan = {
  lead: Lead;
  where: Condition;
  /** Reads the same records without an order. */
  count: { lead: Lead; where: Condition };
  /** Reads the records of one state, project by project; null: the list is of one project. */
  alongProjects: { tables: RawBuilder<unknown>; where: Condition } | null;
  /** Whether an index selects a small part of the records. */
  isRare: boolean;
  /** Whether the search compares every text, so that a page may read all records. */
  comparesTexts: boolean;
};

const getProject = (scope: Scope): Project | null =>
  typeof scope === 'object' && 'project' in scope ? scope.project : null;

/** Over `projects`, where a list is not of one project. */
const inGroup = (scope: Scope): Condition[] =>
  typeof scope === 'object' && 'group_id' in scope
    ? [sql`projects.namespace_id in ${selectDescendants(scope.group_id)}`]
    : [];

/** SQL condition over `milestones`: those that records in the scope may have. Limits the milestones that are read. */
const milestonesIn = (scope: Scope): Condition => {
  if (scope === 'everywhere') return sql`1 = 1`;
  if ('project' in scope) return availableTo('milestones', toOwner(scope.project));
  const { group_id } = scope;
  const below = selectDescendants(group_id);
  return anyOf([
    sql`milestones.project_id in (select id from projects where namespace_id in ${below})`,
    sql`milestones.group_id in ${below}`,
    sql`milestones.group_id in ${selectAncestors(group_id)}`,
  ]);
};

const toOwner = ({ id, namespace_id }: Project): Owner => ({ kind: 'projects', id, namespace_id });

/** For counts in a group: its projects have few of all records, and an index by state. */
const alongProjects = (
  { table }: Listed,
  { needed, others }: Selection,
  visible: Condition[],
  { indexedBy }: SqlDialect,
): Plan['alongProjects'] => ({
  tables: sql`projects cross join ${sql.raw(table)} ${indexedBy(`${table}_state_created`)}`,
  where: allOf([...needed.map(({ condition }) => condition), ...others, ...visible]),
});

/** null: nothing has what the filters name. */
const makePlan = async <F extends Filters>(
  kind: ListKind<F>,
  { call, scope, filters }: Query<F>,
): Promise<Plan | null> => {
  const { dialect } = call.platform.store;
  const project = getProject(scope);
  const userId = getUserId(call);
  const day = today(call.now);
  const ofMilestone = onMilestone(kind, filters);
  const measured = [...ofMilestone, ...kind.measured(filters, project !== null)];
  const requested = toNamedFilters(kind, filters, { userId, project, measured });
  const names = await lookUp(kind, call, requested, project && toOwner(project));
  const own = [
    ...ofMilestone.map(({ condition }) => condition),
    ...kind.own(filters, { viewer: call.viewer, dialect, today: day }),
  ];
  const context = {
    names,
    dialect,
    userId,
    today: day,
    milestones: () => milestonesIn(scope),
    requested,
    own,
  };
  const selection = buildSelection(kind, filters, context);
  if (selection === null) return null;
  const counted = requested.measured.map(({ name, index }) => ({
    index,
    uses: names('measured', name).uses,
  }));
  const isInProject = project !== null;
  const parts = { kind, filters, selection, dialect, isInProject, measured: counted };
  const visible =
    project === null
      ? [
          sql<boolean>`projects.id = ${column(kind, 'project_id')}`,
          ...inGroup(scope),
          kind.visible(call.viewer, dialect),
        ]
      : [kind.visibleIn(call.viewer, project)];
  const search = await searchCondition(call, kind.type, filters.search ?? '', searchedFields(filters));
  const along = (lead: Lead) => ({ lead, where: allOf([...lead.conditions, ...visible, ...search]) });
  const comparesTexts = isUnindexed(call.platform.store, filters.search ?? '');
  return {
    ...along(chooseLead(parts)),
    count: along(leadOfCount(parts)),
    alongProjects: project === null ? alongProjects(kind, selection, [...visible, ...search], dialect) : null,
    isRare: isRare(parts),
    comparesTexts,
  };
};

const tables = (scope: Scope, { lead }: Pick<Plan, 'lead'>): RawBuilder<unknown> =>
  getProject(scope) === null ? sql`${lead.tables} cross join projects` : lead.tables;

/** How much longer a text takes to be compared than a row of an index takes to be read. */
const weightOfText = 10;

/** Estimates how many records a read may visit; null if unknown. */
const getLimit = <F extends Filters>(
  kind: ListKind<F>,
  scope: Scope,
  { isRare: isFew, comparesTexts }: Plan,
): number | null => {
  const project = getProject(scope);
  const records = isFew ? many : project && kind.size(project);
  return records === null ? null : records * (comparesTexts ? weightOfText : 1);
};

/** Records that a page in the main thread may skip; takes about a millisecond. */
const maxSkipped = 20_000;

/** Filters by which a page passes over records one by one, unless an index selects few. */
const passingFilters = [
  'confidential',
  'created_after',
  'created_before',
  'due_date',
  'my_reaction_emoji',
  'not',
  'updated_after',
  'updated_before',
];

/** Whether a page may read many more records than it has. */
const readsMany = (
  { filters, page, passed = 0 }: Pick<Query<Filters>, 'filters' | 'page' | 'passed'>,
  plan: Plan,
): boolean =>
  plan.comparesTexts ||
  page.offset + passed > maxSkipped ||
  Object.entries(filters).some(([name, value]) => value !== undefined && passingFilters.includes(name));

const readPage = async <F extends Filters>(
  kind: ListKind<F>,
  { call, scope, filters, page, passed = 0 }: Query<F>,
  plan: Plan,
): Promise<Version[]> => {
  const direction = filters.sort === 'asc' ? sql`asc` : sql`desc`;
  const order = sql.join(plan.lead.order.map((one) => sql`${one} ${direction}`));
  const columns = kind.shown?.columns(call.viewer, getProject(scope), call.platform.store.dialect);
  const shown = columns === undefined ? sql`` : sql`, ${columns}`;
  const query = sql<Version>`
    select ${column(kind, 'id')}, ${column(kind, 'revision')}${shown} from ${tables(scope, plan)} where ${plan.where}
    order by ${order}
    limit ${page.limit} offset ${page.offset}`;
  if (!readsMany({ filters, page, passed }, plan)) return (await query.execute(call.db)).rows;
  return await readMany(call, { query, maxRecords: getLimit(kind, scope, plan) });
};

const count = async <F extends Filters>(
  kind: ListKind<F>,
  { call, scope }: Pick<Query<F>, 'call' | 'scope'>,
  plan: Plan,
): Promise<number> => {
  const query = sql<{ total: number }>`
    select count(*) as total from ${tables(scope, plan.count)} where ${plan.count.where}`;
  const [row] = await readMany(call, { query, maxRecords: getLimit(kind, scope, plan) });
  return row?.total ?? 0;
};

/** Over `projects`. */
const notArchived = sql<boolean>`projects.archived = 0`;

/** Filters that leave every record of a state in. */
const isPlain = ({ state: _s, order_by: _o, sort: _d, scope, ...others }: Filters): boolean =>
  scope === 'all' && Object.values(others).every((value) => value === undefined);

const noTexts: TextLoader = async () => await Promise.resolve([]);
const wholePage: PageRequest = { page: 1, per_page: 1, limit: 1, offset: 0 };

/** Cache key of a list without a project, apart from the stored data. */
const makeWideKey = ({ call, filters }: Pick<Query<Filters>, 'call' | 'filters'>): string => {
  const { order_by: _order, sort: _sort, ...selecting } = filters;
  return JSON.stringify([getUserId(call), today(call.now), selecting]);
};

/** Cache key of a list of a project, apart from its records and their embedded names. */
const makeKey = <F extends Filters>(
  kind: ListKind<F>,
  { call, filters }: Pick<Query<F>, 'call' | 'filters'>,
  project: Project,
): string => {
  const { order_by: _order, sort: _sort, ...selecting } = filters;
  const viewer = [
    getUserId(call),
    kind.seesAll(call.viewer, project),
    kind.shown?.isSeen(call.viewer, project),
  ];
  return JSON.stringify([project.id, project.archived, viewer, today(call.now), selecting]);
};

type Kept = ReturnType<typeof keptPages>;
type ReadPage = { versions: Version[]; total: number };

/** Makes the function that returns exact totals, after visibility. */
const makeTotal =
  <F extends Filters>(kind: ListKind<F>, kept: Kept) =>
  async (query: Query<F>, plan: Plan): Promise<number> => {
    const { call, scope, filters } = query;
    const project = getProject(scope);
    if (isPlain(project === null ? { ...filters, non_archived: undefined } : filters)) {
      const place = [...inGroup(scope), ...(filters.non_archived === true ? [notArchived] : [])];
      return await kind.total(call, { project, place, state: filters.state });
    }
    if (kind.isUnversioned?.(filters) === true) return await count(kind, query, plan);
    if (scope === 'everywhere')
      return await kept.wideTotal(call, makeWideKey(query), () => count(kind, query, plan));
    if (project === null) return await count(kind, query, plan);
    return await kept.total(call, project, makeKey(kind, query, project), () => count(kind, query, plan));
  };

/** Makes the function that counts the records by column, see `column_counts.ts`, in one statement. */
const makeColumnCount = <F extends Filters>(kind: ListKind<F>, kept: Kept) => {
  const read = async (query: Query<F>, columns: RecordIds): Promise<ColumnCount[]> => {
    const { call, scope } = query;
    const plan = await makePlan(kind, query);
    if (plan === null) return [];
    const wide = plan.isRare || plan.comparesTexts ? null : plan.alongProjects;
    const selected = wide ?? { tables: tables(scope, plan.count), where: plan.count.where };
    const text = columnCounts(kind, selected, columns);
    return await readMany(call, { query: text, maxRecords: getLimit(kind, scope, plan) });
  };
  return async (given: Omit<Query<F>, 'texts' | 'page'>, columns: RecordIds): Promise<ColumnCount[]> => {
    const { call, scope } = given;
    const query = { ...given, texts: noTexts, page: wholePage };
    const project = getProject(scope);
    if (project !== null && !kind.isOpen(call.viewer, project)) return [];
    const key = `columns ${JSON.stringify(columns)}`;
    return project === null
      ? await kept.wideTotal(call, `${key}${JSON.stringify(scope)}${makeWideKey(query)}`, () =>
          read(query, columns),
        )
      : await kept.total(call, project, key + makeKey(kind, query, project), () => read(query, columns));
  };
};

/**
 * Makes the lists of a kind.
 * @param versionOf rises with every change of what the lists of a project show
 */
export const makeLists = <F extends Filters>(kind: ListKind<F>, versionOf: (project: Project) => number) => {
  const kept = keptPages(versionOf);
  const computeTotal = makeTotal(kind, kept);

  const read = async (query: Query<F>): Promise<ReadPage> => {
    const plan = await makePlan(kind, query);
    if (plan === null) return { versions: [], total: 0 };
    const versions = await readPage(kind, query, plan);
    // A first page that is not full holds all there is.
    const isAll = query.page.page === 1 && versions.length < query.page.limit;
    return { versions, total: isAll ? versions.length : await computeTotal(query, plan) };
  };

  const readWithoutTotal = async (query: Query<F>): Promise<ReadPage> => {
    const plan = await makePlan(kind, query);
    return { versions: plan === null ? [] : await readPage(kind, query, plan), total: 0 };
  };

  /** Reads a page by way of the cache. @param what is read: a part of the key */
  const readCached = async (query: Query<F>, what: string, make: typeof read): Promise<ReadPage> => {
    const { call, scope, filters, page } = query;
    const project = getProject(scope);
    if (project !== null && !kind.isOpen(call.viewer, project)) return { versions: [], total: 0 };
    if (project === null || kind.isUnversioned?.(filters) === true) return await make(query);
    const order = `${filters.order_by} ${filters.sort} ${page.limit} ${page.offset}`;
    const key = `${what}${makeKey(kind, query, project)} ${order}`;
    return await kept.page(call, project, key, () => make(query));
  };

  return {
    /** Returns a list; empty if the caller may not see this kind in the project. */
    list: async (query: Query<F>): Promise<Page<JsonText>> => {
      const { versions, total } = await readCached(query, '', read);
      return { items: await query.texts(query.call, versions), total };
    },

    /** Returns the versions of the records of a page, without a total. */
    listVersions: async (query: Omit<Query<F>, 'texts'>): Promise<Version[]> =>
      (await readCached({ ...query, texts: noTexts }, 'versions ', readWithoutTotal)).versions,

    /** Counts records by label, assignee and milestone, and those that have none of these. Columns without any are absent. */
    countByColumn: makeColumnCount(kind, kept),
  };
};
