/** Lists issues or merge requests: one page, and the exact number of all matches. */
import { sql } from 'kysely';
import type { JsonText } from '../../../platform/http/endpoint.ts';
import type { Page } from '../../../platform/http/page.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { Filters } from './filter_params.ts';
import { readMany } from './run_long_read.ts';
import { column, findOrderIndex, orderTerms } from './record_kinds.ts';
import { keptPages } from './page_cache.ts';
import type { Version } from './json_cache.ts';
import { type ListKind, type Query, getProject } from './list_kind.ts';
import { type Plan, makePlan, tables, getLimit, readsMany } from './plan_list.ts';
import { noTexts, makeTotal, makeColumnCount, makeKey, makeWideKey } from './list_totals.ts';

/** Records before a late page, which are skipped before the page's records are loaded. */
const lateOffset = 100;

type ReadPage = { versions: Version[]; total: number };

const readPage = async <F extends Filters>(
  kind: ListKind<F>,
  { call, scope, filters, page, passed = 0 }: Query<F>,
  plan: Plan,
): Promise<Version[]> => {
  const columns = kind.shown?.columns(call.viewer, getProject(scope), call.platform.store.dialect);
  const shown = columns === undefined ? sql`` : sql`, ${columns}`;
  const select = sql`select ${column(kind, 'id')}, ${column(kind, 'revision')}${shown}`;
  const from = sql`from ${tables(scope, plan)} where ${plan.where}
    order by ${sql.join(plan.lead.order)}
    limit ${page.limit} offset ${page.offset}`;
  // The ids come only from an index. The engines use it only if nothing else is selected with them.
  const isInProject = getProject(scope) !== null;
  const isSplit =
    (isInProject && (page.offset >= lateOffset || plan.isCovered)) || findOrderIndex(filters) !== null;
  const id = column(kind, 'id');
  const projects = isInProject ? sql`` : sql`cross join projects`;
  const isOfProject = isInProject ? sql`` : sql`and projects.id = ${column(kind, 'project_id')}`;
  const query = isSplit
    ? sql<Version>`${select} from (select ${id} as page_id ${from}) as page
      cross join ${sql.raw(kind.table)} ${projects} where ${id} = page_id ${isOfProject}
      order by ${sql.join(orderTerms(kind, filters))}`
    : sql<Version>`${select} ${from}`;
  if (!readsMany({ scope, filters, page, passed }, plan)) return (await query.execute(call.db)).rows;
  return await readMany(call, { query, maxRecords: getLimit(kind, scope, plan) });
};

/** Makes the functions that read a page: with the total of its list, and without it. */
const makePageReaders = <F extends Filters>(
  kind: ListKind<F>,
  computeTotal: ReturnType<typeof makeTotal<F>>,
) => {
  const read = async (query: Query<F>): Promise<ReadPage> => {
    const plan = await makePlan(kind, query);
    if (plan === null) return { versions: [], total: 0 };
    const { page, limit, offset } = query.page;
    const lateTotal = offset >= lateOffset ? await computeTotal(query, plan) : null;
    // Otherwise every record would be skipped to find none.
    if (lateTotal !== null && lateTotal <= offset) return { versions: [], total: lateTotal };
    const versions = await readPage(kind, query, plan);
    // A first page that is not full holds all there is.
    const isAll = page === 1 && versions.length < limit;
    return { versions, total: lateTotal ?? (isAll ? versions.length : await computeTotal(query, plan)) };
  };

  const readWithoutTotal = async (query: Query<F>): Promise<ReadPage> => {
    const plan = await makePlan(kind, query);
    return { versions: plan === null ? [] : await readPage(kind, query, plan), total: 0 };
  };

  return { read, readWithoutTotal };
};

/**
 * Makes the lists of a kind.
 * @param versionOf rises with every change of what the lists of a project show
 */
export const makeLists = <F extends Filters>(kind: ListKind<F>, versionOf: (project: Project) => number) => {
  const kept = keptPages(versionOf);
  const computeTotal = makeTotal(kind, kept);

  const { read, readWithoutTotal } = makePageReaders(kind, computeTotal);

  /** Reads a page over many projects, which is cached until the next commit. */
  const readWide = async (query: Query<F>): Promise<ReadPage> => {
    const { call, scope, filters, page } = query;
    const place = JSON.stringify([scope, filters.order_by, filters.sort, page.limit, page.offset]);
    return await kept.widePage(call, place + makeWideKey(query), () => readWithoutTotal(query));
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
    listVersions: async (partial: Omit<Query<F>, 'texts'>): Promise<Version[]> => {
      const query = { ...partial, texts: noTexts };
      const isWide = getProject(query.scope) === null;
      const read = isWide ? readWide(query) : readCached(query, 'versions ', readWithoutTotal);
      return (await read).versions;
    },

    /** Like `listVersions`, but no cache keeps the page: an export reads every page once. */
    listVersionsOnce: async (partial: Omit<Query<F>, 'texts'>): Promise<Version[]> => {
      const query = { ...partial, texts: noTexts };
      const project = getProject(query.scope);
      if (project !== null && !kind.isOpen(query.call.viewer, project)) return [];
      return (await readWithoutTotal(query)).versions;
    },

    /**
     * Counts records by label, assignee and milestone, and records that have none of these. Omits columns without
     * records.
     */
    countByColumn: makeColumnCount(kind, kept),
  };
};
