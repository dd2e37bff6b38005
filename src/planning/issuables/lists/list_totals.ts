/** Exact totals of lists and counts by column, kept until the records change. */
import { sql } from 'kysely';
import { hashRoles } from '../../../core/access/keep_until_commit.ts';
import { today } from '../../../core/access/viewer.ts';
import type { PageRequest } from '../../../platform/http/page.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { type ColumnCount, type Columns, columnCounts } from './column_counts.ts';
import type { Filters } from './filter_params.ts';
import { readMany } from './run_long_read.ts';
import type { keptPages } from './page_cache.ts';
import type { TextLoader } from './json_cache.ts';
import { type ListKind, type Query, getProject, getUserId, inGroup } from './list_kind.ts';
import { type Plan, makePlan, tables, getLimit } from './plan_list.ts';

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

export const noTexts: TextLoader = async () => await Promise.resolve([]);
const wholePage: PageRequest = { page: 1, per_page: 1, limit: 1, offset: 0 };

/**
 * Cache key of a list without a project, without the stored data. It contains the viewer's roles, because a role may
 * have ended since the request started.
 */
export const makeWideKey = ({ call, filters }: Pick<Query<Filters>, 'call' | 'filters'>): string => {
  const { order_by: _order, sort: _sort, ...selecting } = filters;
  return JSON.stringify([getUserId(call), hashRoles(call.viewer), today(call.now), selecting]);
};

/** Cache key of a list of a project, apart from its records and their embedded names. */
export const makeKey = <F extends Filters>(
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

/** Makes the function that returns exact totals, after visibility. */
export const makeTotal =
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
export const makeColumnCount = <F extends Filters>(kind: ListKind<F>, kept: Kept) => {
  const readKept = async (
    { call, scope, filters }: Query<F>,
    columns: Columns,
  ): Promise<ColumnCount[] | null> => {
    const project = getProject(scope);
    if (project === null || filters.state !== 'opened' || !isPlain(filters)) return null;
    return (await kind.byColumn?.(call, project, columns)) ?? null;
  };
  const read = async (query: Query<F>, columns: Columns): Promise<ColumnCount[]> => {
    const kept = await readKept(query, columns);
    if (kept !== null) return kept;
    const { call, scope } = query;
    const plan = await makePlan(kind, query);
    if (plan === null) return [];
    const wide = plan.isRare || plan.comparesTexts ? null : plan.alongProjects;
    const selected = wide ?? { tables: tables(scope, plan.count), where: plan.count.where };
    const text = columnCounts(kind, selected, columns.ids);
    return await readMany(call, { query: text, maxRecords: getLimit(kind, scope, plan) });
  };
  return async (partial: Omit<Query<F>, 'texts' | 'page'>, columns: Columns): Promise<ColumnCount[]> => {
    const { call, scope } = partial;
    const query = { ...partial, texts: noTexts, page: wholePage };
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
