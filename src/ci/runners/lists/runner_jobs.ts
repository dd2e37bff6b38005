/** Lists the jobs of a runner. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { projectRules } from '../../../core/access/may.ts';
import { projectsAtLeast } from '../../../core/access/visible.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import { bool, int, nullable, number, object, string, timestamp } from '../../../platform/http/schema.ts';
import type { Scope } from '../../jobs/list_jobs.ts';
import { jobUrl, shownStatus, statusesShownAs } from '../../../code/repository/statuses/pipeline_summary.ts';
import { formatTime, formatTimeOrNull } from '../../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../../identity/users/json.ts';

export const runnerJobShape = object({
  id: int,
  status: string,
  stage: string,
  name: string,
  ref: string,
  tag: bool,
  coverage: nullable(number),
  allow_failure: bool,
  failure_reason: nullable(string),
  created_at: timestamp,
  started_at: nullable(timestamp),
  finished_at: nullable(timestamp),
  duration: nullable(number),
  web_url: string,
  user: nullable(basicUserShape),
  pipeline: object({ id: int, iid: int, project_id: int, sha: string, ref: string, status: string }),
  project: object({ id: int, name: string, path: string, path_with_namespace: string, web_url: string }),
});

type RunnerJobFilters = {
  status?: Scope | undefined;
  system_id?: string | undefined;
  sort: 'asc' | 'desc';
};

const columns = [
  'jobs.id',
  'jobs.status',
  'jobs.stage',
  'jobs.name',
  'jobs.ref',
  'jobs.tag',
  'jobs.coverage',
  'jobs.allow_failure',
  'jobs.failure_reason',
  'jobs.created_at',
  'jobs.started_at',
  'jobs.finished_at',
  'jobs.user_id',
  'jobs.project_id',
  'jobs.pipeline_id',
  'pipelines.iid as pipeline_iid',
  'pipelines.sha as pipeline_sha',
  'pipelines.ref as pipeline_ref',
  'pipelines.status as pipeline_status',
  'projects.name as project_name',
  'projects.path as project_path',
  'projects.full_path as project_full_path',
] as const;

/**
 * Selects jobs of projects that the caller manages: maintainers of one project learn nothing about its jobs in others.
 */
const selectJobs = ({ db, viewer, platform }: Call, runnerId: number, filters: RunnerJobFilters) => {
  const { status, system_id } = filters;
  const managed: RawBuilder<boolean> = projectsAtLeast(
    viewer,
    projectRules.admin_runner.level,
    platform.store.dialect,
  );
  let query = db
    .selectFrom('jobs')
    .innerJoin('projects', 'projects.id', 'jobs.project_id')
    .where('jobs.runner_id', '=', runnerId)
    .where('projects.deleted_at', 'is', null)
    .where(managed);
  if (status !== undefined) query = query.where('jobs.status', 'in', statusesShownAs(status));
  if (system_id !== undefined) query = query.where('jobs.system_id', '=', system_id);
  return query;
};

const loadRows = async (call: Call, runnerId: number, filters: RunnerJobFilters, page: PageRequest) =>
  await selectJobs(call, runnerId, filters)
    .innerJoin('pipelines', 'pipelines.id', 'jobs.pipeline_id')
    .select(columns)
    .orderBy('jobs.id', filters.sort)
    .limit(page.limit)
    .offset(page.offset)
    .execute();

type Row = Awaited<ReturnType<typeof loadRows>>[number];

const ownPart = (row: Row, { now }: Call) => ({
  id: row.id,
  status: shownStatus(row.status) as string,
  stage: row.stage,
  name: row.name,
  ref: row.ref,
  tag: row.tag === 1,
  coverage: row.coverage === null ? null : row.coverage / 100,
  allow_failure: row.allow_failure === 1,
  failure_reason: row.failure_reason,
  created_at: formatTime(row.created_at),
  started_at: formatTimeOrNull(row.started_at),
  finished_at: formatTimeOrNull(row.finished_at),
  duration: row.started_at === null ? null : ((row.finished_at ?? now) - row.started_at) / 1000,
});

const toJson = (row: Row, call: Call) => ({
  ...ownPart(row, call),
  web_url: jobUrl(`${call.baseUrl}/${row.project_full_path}`, row.id),
  pipeline: {
    id: row.pipeline_id,
    iid: row.pipeline_iid,
    project_id: row.project_id,
    sha: row.pipeline_sha,
    ref: row.pipeline_ref,
    status: shownStatus(row.pipeline_status) as string,
  },
  project: {
    id: row.project_id,
    name: row.project_name,
    path: row.project_path,
    path_with_namespace: row.project_full_path,
    web_url: `${call.baseUrl}/${row.project_full_path}`,
  },
});

export const listRunnerJobs = async (
  call: Call,
  runnerId: number,
  filters: RunnerJobFilters,
  page: PageRequest,
): Promise<Page<unknown>> => {
  const { total } = await selectJobs(call, runnerId, filters)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const rows = await loadRows(call, runnerId, filters, page);
  const ids = rows.map(({ user_id }) => user_id).filter((id) => id !== null);
  const users = await basicUsersById(call.db, ids);
  const items = rows.map((row) => {
    const user = users.get(row.user_id ?? 0);
    return { ...toJson(row, call), user: user === undefined ? null : basicUser(user, call) };
  });
  return { items, total };
};
