/** Lists jobs of a project or pipeline, newest first. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { anyOf } from '../../core/access/visible.ts';
import { containsText } from '../../platform/db/contains_text.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { JobStatus } from '../../platform/db/schema/ci.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { readMany } from '../../planning/issuables/lists/run_long_read.ts';
import { statusesShownAs } from '../../code/repository/statuses/pipeline_summary.ts';
import { type JobRow, jobColumns } from './rows.ts';

/** The statuses that the `scope` parameter accepts. */
export const scopes = [
  'created',
  'pending',
  'running',
  'failed',
  'success',
  'canceled',
  'skipped',
  'manual',
] as const;

export type Scope = (typeof scopes)[number];

/** Returns the statuses to filter by; null: no filter. */
const toStatuses = (requestedScopes: readonly Scope[]): JobStatus[] | null => {
  const requested = new Set(requestedScopes);
  if (requested.size === 0 || requested.size === scopes.length) return null;
  return [...requested].flatMap((scope) => statusesShownAs(scope));
};

/** Jobs whose name contains a text; empty: all. */
const nameCondition = (search: string): RawBuilder<unknown> =>
  search === '' ? sql`` : sql`and ${containsText('jobs.name', search)}`;

type IdScan = { projectId: number; status: JobStatus | null; search: string; limit: number };

/** Selects the newest ids of one status, or of all, with an index scan that stops at the limit. */
const newestIds = ({ projectId, status, search, limit }: IdScan): RawBuilder<unknown> => {
  const condition = sql`${status === null ? sql`` : sql`and status = ${status}`} ${nameCondition(search)}`;
  return sql`select id from (select id from jobs where project_id = ${projectId} and bridge = 0 ${condition}
    order by id desc limit ${limit}) as newest`;
};

type JobFilter = {
  /** null: all. */
  statuses: JobStatus[] | null;
  /** Part of the name; empty: any. */
  search: string;
};

/** Scans each status separately and merges the results, so that only rows up to the page's end are sorted. */
const pageIdsQuery = (projectId: number, { statuses, search }: JobFilter, { limit, offset }: PageRequest) => {
  const scans = (statuses ?? [null]).map((status) =>
    newestIds({ projectId, status, search, limit: offset + limit }),
  );
  return sql<{ id: number }>`${sql.join(scans, sql` union all `)}
    order by id desc limit ${limit} offset ${offset}`;
};

const loadRows = async (db: Reader, ids: number[]): Promise<JobRow[]> =>
  ids.length === 0
    ? []
    : await db.selectFrom('jobs').select(jobColumns).where('id', 'in', ids).orderBy('id', 'desc').execute();

/**
 * Counts all jobs and subtracts the trigger jobs (`bridge`): each count reads only an index, while a condition on
 * `bridge` would read each row.
 */
const countQuery = ({ db }: Pick<Call, 'db'>, projectId: number, { statuses, search }: JobFilter) => {
  let jobs = db
    .selectFrom('jobs')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId);
  if (statuses !== null) jobs = jobs.where('status', 'in', statuses);
  if (search !== '') jobs = jobs.where(anyOf([containsText('jobs.name', search)]));
  const bridges = jobs.where(sql<boolean>`bridge = 1`);
  return sql<{ total: number | string }>`select ${jobs} - ${bridges} as total`;
};

/** Lists all jobs of a project, including retried jobs, excluding trigger jobs. @param search part of the name */
export const listProjectJobs = async (
  call: Call,
  projectId: number,
  { scope, search = '' }: { scope: readonly Scope[]; search?: string | undefined },
  page: PageRequest,
): Promise<Page<JobRow>> => {
  const filter = { statuses: toStatuses(scope), search };
  const [count, ids] = [countQuery(call, projectId, filter), pageIdsQuery(projectId, filter, page)];
  // No index has the names: a search reads every job of the project.
  const read = async <T>(query: RawBuilder<T>): Promise<T[]> =>
    search === '' ? (await query.execute(call.db)).rows : await readMany(call, { query, maxRecords: null });
  const [[counted], rows] = await Promise.all([read(count), read(ids)]);
  const items = await loadRows(
    call.db,
    rows.map(({ id }) => id),
  );
  return { items, total: Number(counted?.total ?? 0) };
};

export type PipelineJobs = {
  pipeline_id: number;
  scope: readonly Scope[];
  include_retried: boolean;
  /** 1: trigger jobs; 0: all others. */
  bridge: 0 | 1;
};

export const listPipelineJobs = async (
  db: Reader,
  { pipeline_id, scope, include_retried, bridge }: PipelineJobs,
  { limit, offset }: PageRequest,
): Promise<Page<JobRow>> => {
  const statuses = toStatuses(scope);
  let query = db
    .selectFrom('jobs')
    .where('pipeline_id', '=', pipeline_id)
    .where('bridge', '=', sql.lit(bridge));
  if (statuses !== null) query = query.where('status', 'in', statuses);
  if (!include_retried) query = query.where('retried', '=', 0);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.select(jobColumns).orderBy('id', 'desc').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};
