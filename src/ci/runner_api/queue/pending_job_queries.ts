/** Queries of the queue. The database is the source of truth. */
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { WaitingJob } from './waiting_jobs.ts';
import { heldStatuses } from '../../../core/job_statuses.ts';

/** Rows of one read. */
const batch = 5_000;

/** Columns of a pending job and its project. */
export const pendingColumns = [
  'pending_jobs.job_id',
  'pending_jobs.protected',
  'pending_jobs.tag_list',
  'pending_jobs.created_at',
  'projects.id',
  'projects.namespace_id',
  'projects.shared_runners_enabled',
  'projects.group_runners_enabled',
] as const;

/** Loads jobs that became pending since a time, of projects that run jobs. */
const pendingRows = compiled((db, input: { since: number; after: number }) =>
  db
    .selectFrom('pending_jobs')
    .innerJoin('projects', 'projects.id', 'pending_jobs.project_id')
    .select(pendingColumns)
    .where('pending_jobs.created_at', '>=', input.since)
    .where('pending_jobs.job_id', '>', input.after)
    .where('projects.deleted_at', 'is', null)
    .where('projects.archived', '=', 0)
    .where('projects.builds_access_level', '<>', 'disabled')
    .where('projects.repository_access_level', '<>', 'disabled')
    .orderBy('pending_jobs.job_id')
    .limit(batch)
    .compile(),
);

/** Yields jobs that became pending at that time or later, in batches. */
export const readPending = async (
  db: Reader,
  since: number,
  take: (jobs: WaitingJob[]) => void,
): Promise<number | null> => {
  let newest: number | null = null;
  for (let after = 0; ;) {
    const rows = await pendingRows(db, { since, after });
    take(
      rows.map(({ id, namespace_id, shared_runners_enabled, group_runners_enabled, ...row }) => ({
        job_id: row.job_id,
        protected: row.protected,
        tag_list: row.tag_list,
        project: { id, namespace_id, shared_runners_enabled, group_runners_enabled },
      })),
    );
    for (const { created_at } of rows) newest = Math.max(newest ?? created_at, created_at);
    after = rows.at(-1)?.job_id ?? 0;
    if (rows.length < batch) return newest;
  }
};

const runningRows = compiled((db, _given: object) =>
  db
    .selectFrom('jobs')
    .innerJoin('runners', 'runners.id', 'jobs.runner_id')
    .select((is) => ['jobs.project_id', is.fn.countAll<number>().as('running')])
    .where('jobs.status', 'in', heldStatuses)
    .where('runners.runner_type', '=', 'instance_type')
    .groupBy('jobs.project_id')
    .compile(),
);

/** Counts the running jobs of each project on instance runners. */
export const countRunning = async (db: Reader): Promise<Map<number, number>> => {
  const rows = await runningRows(db, {});
  return new Map(rows.map(({ project_id, running }) => [project_id, running]));
};
