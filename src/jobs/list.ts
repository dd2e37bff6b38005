/** Lists of jobs, the newest first. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import type { JobStatus } from '../db/schema_ci.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { statusesShownAs } from '../repository/pipeline_brief.ts';
import { type JobRow, jobColumns } from './rows.ts';

/** The statuses that the API knows. */
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

/** null: every one. */
const statusesOf = (given: readonly Scope[]): JobStatus[] | null => {
  const wanted = new Set(given);
  if (wanted.size === 0 || wanted.size === scopes.length) return null;
  return [...wanted].flatMap((scope) => statusesShownAs(scope));
};

/** The newest of one status, or of all: a walk along an index that ends when there are enough. */
const newest = (projectId: number, status: JobStatus | null, most: number): RawBuilder<unknown> => {
  const condition = status === null ? sql`` : sql`and status = ${status}`;
  return sql`select id from (select id from jobs where project_id = ${projectId} and bridge = 0 ${condition}
    order by id desc limit ${most}) as newest`;
};

/** Of several statuses, each is walked by itself: sorted is only what may be on the page, or before it. */
const idsOf = (projectId: number, statuses: JobStatus[] | null, { limit, offset }: PageRequest) => {
  const walks = (statuses ?? [null]).map((status) => newest(projectId, status, offset + limit));
  return sql<{ id: number }>`${sql.join(walks, sql` union all `)}
    order by id desc limit ${limit} offset ${offset}`;
};

const rowsOf = async (db: Reader, ids: number[]): Promise<JobRow[]> =>
  ids.length === 0
    ? []
    : await db.selectFrom('jobs').select(jobColumns).where('id', 'in', ids).orderBy('id', 'desc').execute();

/** Both parts are counted along an index alone, which a condition on each row would not be. */
const countOf = async (db: Reader, projectId: number, statuses: JobStatus[] | null): Promise<number> => {
  let all = db
    .selectFrom('jobs')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId);
  if (statuses !== null) all = all.where('status', 'in', statuses);
  const bridges = all.where(sql<boolean>`bridge = 1`);
  const { total } = await db
    .selectNoFrom(sql<number | string>`${all} - ${bridges}`.as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
};

/** All jobs of a project that run, also those whose place others have taken. */
export const listProjectJobs = async (
  db: Reader,
  projectId: number,
  given: readonly Scope[],
  page: PageRequest,
): Promise<Page<JobRow>> => {
  const statuses = statusesOf(given);
  const [total, { rows }] = await Promise.all([
    countOf(db, projectId, statuses),
    idsOf(projectId, statuses, page).execute(db),
  ]);
  const items = await rowsOf(
    db,
    rows.map(({ id }) => id),
  );
  return { items, total };
};

export type PipelineJobs = {
  pipeline_id: number;
  scope: readonly Scope[];
  include_retried: boolean;
  /** Those that start other pipelines, or those that run. */
  bridge: 0 | 1;
};

export const listPipelineJobs = async (
  db: Reader,
  { pipeline_id, scope, include_retried, bridge }: PipelineJobs,
  { limit, offset }: PageRequest,
): Promise<Page<JobRow>> => {
  const statuses = statusesOf(scope);
  let query = db.selectFrom('jobs').where('pipeline_id', '=', pipeline_id).where('bridge', '=', bridge);
  if (statuses !== null) query = query.where('status', 'in', statuses);
  if (!include_retried) query = query.where('retried', '=', 0);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.select(jobColumns).orderBy('id', 'desc').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};
