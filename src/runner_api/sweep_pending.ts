/** Jobs that wait in vain. */
import type { Platform } from '../access/call.ts';
import { dropJob } from '../pipelines/job_states.ts';
import { lockJob } from '../pipelines/store.ts';
import { each } from './each.ts';
import { type Taker, mayTake } from './matching.ts';
import { pendingColumns } from './pending.ts';
import { takerOf } from './takers.ts';

/** Milliseconds. */
const longestPending = 24 * 3_600_000;
const longestUnmatched = 3_600_000;

/** Rows of one look. */
const batch = 500;

/** Jobs that have waited since then, the oldest ids first. */
const pendingSince = async ({ store }: Platform, before: number, after: number) =>
  await store.db
    .selectFrom('pending_jobs')
    .innerJoin('projects', 'projects.id', 'pending_jobs.project_id')
    .select(pendingColumns)
    .where('pending_jobs.created_at', '<', before)
    .where('pending_jobs.job_id', '>', after)
    .orderBy('pending_jobs.job_id')
    .limit(batch)
    .execute();

type Pending = Awaited<ReturnType<typeof pendingSince>>[number];

/** Runners that may take jobs of this project, or of all. */
const takersFor = async ({ store }: Platform, project: { id: number; namespace_id: number }) => {
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
  return await Promise.all(rows.map(async (row) => await takerOf(store.db, row)));
};

const hasRunner = async (platform: Platform, row: Pending, known: Map<number, Taker[]>): Promise<boolean> => {
  const { id, namespace_id, shared_runners_enabled } = row;
  const takers = known.get(id) ?? (await takersFor(platform, { id, namespace_id }));
  known.set(id, takers);
  const tags = JSON.parse(row.tag_list) as string[];
  const jobs = { project: { id, namespace_id, shared_runners_enabled }, protected: row.protected, tags };
  return takers.some((taker) => mayTake(taker, jobs));
};

/** Jobs that nobody takes, or that nobody can take. */
export const sweepPending = async (platform: Platform): Promise<void> => {
  const now = platform.clock.now();
  const known = new Map<number, Taker[]>();
  const sweep = async (row: Pending): Promise<void> => {
    if (row.created_at >= now - longestPending && (await hasRunner(platform, row, known))) return;
    await platform.store.write(async (tx) => {
      const locked = await lockJob(tx, row.job_id);
      if (locked?.job.status === 'pending') await dropJob(tx, row.job_id, 'stuck_or_timeout_failure');
    });
  };
  for (let after = 0; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each look begins behind the last
    const rows = await pendingSince(platform, now - longestUnmatched, after);
    // oxlint-disable-next-line no-await-in-loop
    await each(platform, rows, sweep);
    after = rows.at(-1)?.job_id ?? 0;
    if (rows.length < batch) return;
  }
};
