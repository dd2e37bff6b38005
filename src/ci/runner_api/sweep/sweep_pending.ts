/** Fails jobs that were pending for too long. */
import type { Platform } from '../../../core/platform.ts';
import { dayMilliseconds, hourMilliseconds } from '../../../platform/time.ts';
import { failJob } from '../../pipelines/processing/job_transitions.ts';
import { lockJob } from '../../pipelines/pipeline_rows.ts';
import { forEachLogged } from '../for_each_logged.ts';
import { type RequestingRunner, canTake } from '../queue/match_runners.ts';
import { pendingColumns } from '../queue/pending_job_queries.ts';
import { loadTaker } from '../queue/load_runner_facts.ts';
import { type ClockHistory, getAge } from './job_fate.ts';

/** Milliseconds. */
const maxPendingMilliseconds = dayMilliseconds;
const maxUnmatchedMilliseconds = hourMilliseconds;

/** Rows of one query. */
const batch = 500;

/** Loads jobs that were pending before this time, or are since a later time than now, ordered by id. */
const loadPendingSince = async (
  { store }: Platform,
  { before, now }: { before: number; now: number },
  after: number,
) =>
  await store.db
    .selectFrom('pending_jobs')
    .innerJoin('projects', 'projects.id', 'pending_jobs.project_id')
    .select(pendingColumns)
    .where((is) =>
      is.or([is('pending_jobs.created_at', '<', before), is('pending_jobs.created_at', '>', now)]),
    )
    .where('pending_jobs.job_id', '>', after)
    .orderBy('pending_jobs.job_id')
    .limit(batch)
    .execute();

type Pending = Awaited<ReturnType<typeof loadPendingSince>>[number];

/** Loads the runners that may serve this project. */
const loadTakers = async ({ store }: Platform, project: { id: number; namespace_id: number }) => {
  const rows = await store.db
    .selectFrom('runners')
    .selectAll()
    .where('active', '=', 1)
    .where((is) =>
      is.or([
        is('runner_type', '<>', 'project_type'),
        is(
          'id',
          'in',
          is.selectFrom('runner_projects').select('runner_id').where('project_id', '=', project.id),
        ),
      ]),
    )
    .orderBy('id')
    .limit(batch)
    .execute();
  return await Promise.all(rows.map(async (row) => await loadTaker(store.db, row)));
};

const hasRunner = async (
  platform: Platform,
  row: Pending,
  takersByProject: Map<number, RequestingRunner[]>,
): Promise<boolean> => {
  const { id, namespace_id, shared_runners_enabled, group_runners_enabled } = row;
  const takers = takersByProject.get(id) ?? (await loadTakers(platform, { id, namespace_id }));
  takersByProject.set(id, takers);
  const tags = JSON.parse(row.tag_list) as string[];
  const project = { id, namespace_id, shared_runners_enabled, group_runners_enabled };
  const jobs = { project, protected: row.protected, tags };
  return takers.some((taker) => canTake(taker, jobs));
};

/** Fails jobs pending for a day, and jobs without a matching runner for an hour, however the clock was set meanwhile. */
export const sweepPending = async (platform: Platform, history: ClockHistory): Promise<void> => {
  const now = platform.clock.now();
  const takersByProject = new Map<number, RequestingRunner[]>();
  const sweep = async (row: Pending): Promise<void> => {
    const age = getAge(row.created_at, now, history);
    if (age <= maxUnmatchedMilliseconds) return;
    if (age <= maxPendingMilliseconds && (await hasRunner(platform, row, takersByProject))) return;
    await platform.store.write(async (tx) => {
      const locked = await lockJob(tx, row.job_id);
      if (locked?.job.status === 'pending') await failJob(tx, row.job_id, 'stuck_or_timeout_failure');
    });
  };
  for (let after = 0; ;) {
    const rows = await loadPendingSince(platform, { before: now - maxUnmatchedMilliseconds, now }, after);
    await forEachLogged(platform, rows, sweep);
    after = rows.at(-1)?.job_id ?? 0;
    if (rows.length < batch) return;
  }
};
