/** Lists of issues or merge requests: one page of them and the exact number of all that match. */
import { type RawBuilder, sql } from 'kysely';
import { type Call, userOf } from '../access/call.ts';
import { type Viewer, today } from '../access/viewer.ts';
import { allOf, anyOf } from '../access/visible.ts';
import type { Words } from '../db/engine.ts';
import type { JsonText } from '../http/endpoint.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { type Owner, availableTo } from '../labels/owner.ts';
import { ancestorsOf, descendantsOf } from '../namespaces/ancestors.ts';
import type { Project } from '../projects/find.ts';
import { type Filters, onMilestone, searchedFields, selectionOf, wantedOf } from './filters.ts';
import { countRecords } from './count.ts';
import { type Lead, isRare, leadOf, leadOfCount } from './lead.ts';
import { type Listed, column } from './listed.ts';
import { type Measured, lookUp, many } from './named.ts';
import { keptPages } from './pages.ts';
import { searchCondition } from './search.ts';
import type { TextsOf, Version } from './texts.ts';

type Condition = RawBuilder<boolean>;

/** Where a list looks: in one project, in a group with all below it, or everywhere. */
export type Scope = { project: Project } | { group_id: number } | 'everywhere';

export type TotalOf = {
  /** One project whose records the caller sees; null: all that he sees. */
  project: Project | null;
  /** Over `projects`: those that the list is of. */
  place: Condition[];
  state: string;
};

/** What a kind brings to its lists. */
export type ListKind<F extends Filters> = Listed & {
  /** What its own filters ask for. */
  own: (filters: F, today: string) => Condition[];
  /** Those of them that have an index. */
  measured: (filters: F, isInProject: boolean) => Measured[];
  /** Over a query that joins it with `projects`. */
  visible: (viewer: Viewer, words: Words) => Condition;
  /** Over records of one project that the viewer may see some of. */
  visibleIn: (viewer: Viewer, project: Project) => Condition;
  /** Whether the viewer may see any of the project. */
  isOpen: (viewer: Viewer, project: Project) => boolean;
  /** Whether he may see all of the project. */
  seesAll: (viewer: Viewer, project: Project) => boolean;
  /** Columns of a record's version beside its revision, and whether the viewer sees what they count of a project. */
  shown?: {
    columns: (viewer: Viewer, project: Project | null, words: Words) => RawBuilder<unknown>;
    isSeen: (viewer: Viewer, project: Project) => boolean;
  };
  /** How many there are in the project. */
  size: (project: Project) => number;
  /** Exact, after visibility, without any filter but the state. */
  total: (call: Call, of: TotalOf) => Promise<number>;
};

type Query<F> = { call: Call; scope: Scope; filters: F; page: PageRequest; texts: TextsOf };

/** Which records, and along what they are read. */
type Plan = {
  lead: Lead;
  where: Condition;
  /** The same records, in no order. */
  count: { lead: Lead; where: Condition };
  /** Whether an index leads to few of all. */
  isRare: boolean;
};

const projectOf = (scope: Scope): Project | null =>
  typeof scope === 'object' && 'project' in scope ? scope.project : null;

/** Over `projects`, where a list is not of one project. */
const inGroup = (scope: Scope): Condition[] =>
  typeof scope === 'object' && 'group_id' in scope
    ? [sql`projects.namespace_id in ${descendantsOf(scope.group_id)}`]
    : [];

/** Over `milestones`: those that records there may be on, so that not all that there are are looked at. */
const milestonesIn = (scope: Scope): Condition => {
  if (scope === 'everywhere') return sql`1 = 1`;
  if ('project' in scope) return availableTo('milestones', ownerOf(scope.project));
  const { group_id } = scope;
  const below = descendantsOf(group_id);
  return anyOf([
    sql`milestones.project_id in (select id from projects where namespace_id in ${below})`,
    sql`milestones.group_id in ${below}`,
    sql`milestones.group_id in ${ancestorsOf(group_id)}`,
  ]);
};

const ownerOf = ({ id, namespace_id }: Project): Owner => ({ kind: 'projects', id, namespace_id });

/** null: nothing has what the filters name. */
const planOf = async <F extends Filters>(
  kind: ListKind<F>,
  { call, scope, filters }: Query<F>,
): Promise<Plan | null> => {
  const { words } = call.platform.store;
  const project = projectOf(scope);
  const userId = userOf(call).id;
  const day = today(call.now);
  const ofMilestone = onMilestone(kind, filters);
  const measured = [...ofMilestone, ...kind.measured(filters, project !== null)];
  const wanted = wantedOf(kind, filters, { userId, project, measured });
  const names = await lookUp(kind, call, wanted, project && ownerOf(project));
  const own = [...ofMilestone.map(({ condition }) => condition), ...kind.own(filters, day)];
  const context = { names, words, userId, today: day, milestones: () => milestonesIn(scope), wanted, own };
  const selection = selectionOf(kind, filters, context);
  if (selection === null) return null;
  const counted = wanted.measured.map(({ name, index }) => ({ index, uses: names('measured', name).uses }));
  const isInProject = project !== null;
  const parts = { kind, filters, selection, words, isInProject, measured: counted };
  const visible =
    project === null
      ? [
          sql<boolean>`projects.id = ${column(kind, 'project_id')}`,
          ...inGroup(scope),
          kind.visible(call.viewer, words),
        ]
      : [kind.visibleIn(call.viewer, project)];
  const search = await searchCondition(call, kind.type, filters.search ?? '', searchedFields(filters));
  const along = (lead: Lead) => ({ lead, where: allOf([...lead.conditions, ...visible, ...search]) });
  return { ...along(leadOf(parts)), count: along(leadOfCount(parts)), isRare: isRare(parts) };
};

const tables = (scope: Scope, { lead }: Pick<Plan, 'lead'>): RawBuilder<unknown> =>
  projectOf(scope) === null ? sql`${lead.tables} cross join projects` : lead.tables;

const readPage = async <F extends Filters>(
  kind: ListKind<F>,
  { call, scope, filters, page }: Query<F>,
  plan: Plan,
): Promise<Version[]> => {
  const direction = filters.sort === 'asc' ? sql`asc` : sql`desc`;
  const [first, second] = plan.lead.order;
  const columns = kind.shown?.columns(call.viewer, projectOf(scope), call.platform.store.words);
  const shown = columns === undefined ? sql`` : sql`, ${columns}`;
  const { rows } = await sql<Version>`
    select ${column(kind, 'id')}, ${column(kind, 'revision')}${shown} from ${tables(scope, plan)} where ${plan.where}
    order by ${first} ${direction}, ${second} ${direction}
    limit ${page.limit} offset ${page.offset}`.execute(call.db);
  return rows;
};

/** As many records as a count may have to read; null: it is not known. */
const mostOf = <F extends Filters>(
  kind: ListKind<F>,
  scope: Scope,
  { isRare: isFew }: Plan,
): number | null => {
  const project = projectOf(scope);
  return isFew ? many : project && kind.size(project);
};

const count = async <F extends Filters>(
  kind: ListKind<F>,
  { call, scope }: Pick<Query<F>, 'call' | 'scope'>,
  plan: Plan,
): Promise<number> => {
  const query = sql<{ total: number }>`
    select count(*) as total from ${tables(scope, plan.count)} where ${plan.count.where}`;
  return await countRecords(call, { count: query, most: mostOf(kind, scope, plan) });
};

/** Filters that leave every record of a state in. */
const isPlain = ({ state: _s, order_by: _o, sort: _d, scope, ...others }: Filters): boolean =>
  scope === 'all' && Object.values(others).every((value) => value === undefined);

/** All that a list of everywhere depends on, but what the store holds. */
const wideKeyOf = ({ call, filters }: Pick<Query<Filters>, 'call' | 'filters'>): string => {
  const { order_by: _order, sort: _sort, ...selecting } = filters;
  return JSON.stringify([userOf(call).id, today(call.now), selecting]);
};

/**
 * Makes the lists of a kind.
 * @param versionOf rises with every change of what the lists of a project show
 */
export const listsOf = <F extends Filters>(kind: ListKind<F>, versionOf: (project: Project) => number) => {
  const kept = keptPages(versionOf);

  /** All that a list of a project depends on, but its records and the names that they show. */
  const keyOf = ({ call, filters }: Query<F>, project: Project): string => {
    const { order_by: _order, sort: _sort, ...selecting } = filters;
    const viewer = [
      userOf(call).id,
      kind.seesAll(call.viewer, project),
      kind.shown?.isSeen(call.viewer, project),
    ];
    return JSON.stringify([project.id, project.archived, viewer, today(call.now), selecting]);
  };

  /** Exact, after visibility. */
  const totalOf = async (query: Query<F>, plan: Plan): Promise<number> => {
    const { call, scope, filters } = query;
    const project = projectOf(scope);
    if (isPlain(filters)) {
      return await kind.total(call, { project, place: inGroup(scope), state: filters.state });
    }
    if (scope === 'everywhere')
      return await kept.wideTotal(call, wideKeyOf(query), () => count(kind, query, plan));
    if (project === null) return await count(kind, query, plan);
    return await kept.total(call, project, keyOf(query, project), () => count(kind, query, plan));
  };

  const read = async (query: Query<F>): Promise<{ versions: Version[]; total: number }> => {
    const plan = await planOf(kind, query);
    if (plan === null) return { versions: [], total: 0 };
    const versions = await readPage(kind, query, plan);
    // A first page that is not full holds all there is.
    const isAll = query.page.page === 1 && versions.length < query.page.limit;
    return { versions, total: isAll ? versions.length : await totalOf(query, plan) };
  };

  /** A list; empty where the project has none of the kind for the caller. */
  return async (query: Query<F>): Promise<Page<JsonText>> => {
    const { call, scope, filters, page, texts } = query;
    const project = projectOf(scope);
    if (project !== null && !kind.isOpen(call.viewer, project)) return { items: [], total: 0 };
    const shown =
      project && `${keyOf(query, project)} ${filters.order_by} ${filters.sort} ${page.limit} ${page.offset}`;
    const { versions, total } =
      project === null || shown === null
        ? await read(query)
        : await kept.page(call, project, shown, () => read(query));
    return { items: await texts(call, versions), total };
  };
};
