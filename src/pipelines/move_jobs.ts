/** Moves jobs of a locked pipeline: sets of rows, however many, and what was loaded of them. */
import type { Tx } from '../db/open.ts';
import type { JobStatus } from '../db/schema_ci.ts';
import { enqueue } from '../queue/queue.ts';
import type { LatestJob } from './latest_jobs.ts';
import { putInQueue } from './queue.ts';
import { resourcesChanged } from './resource_groups.ts';
import { type Job, jobConfigsOf } from './store.ts';

export const delayedWork = 'pipelines.start_delayed';

type Change = { failure_reason?: string; scheduled_at?: number; cancelled_at?: number; user_id?: number };

type Moved = Pick<Job, 'id' | 'project_id' | 'resource_group' | 'status'>;

/** Whoever ends so never ran: what ran ends with `finishJob`. */
export const setStatus = async (
  tx: Tx,
  jobs: readonly Moved[],
  status: JobStatus,
  change: Change = {},
): Promise<void> => {
  if (jobs.length === 0) return;
  const times = {
    ...(status === 'pending' && { queued_at: tx.now }),
    ...((status === 'failed' || status === 'canceled' || status === 'canceling') && { finished_at: tx.now }),
  };
  await tx.db
    .updateTable('jobs')
    .set({ status, updated_at: tx.now, ...times, ...change })
    .where(
      tx.words.oneOf(
        'id',
        jobs.map(({ id }) => id),
      ),
    )
    .execute();
  for (const job of jobs) Object.assign(job, { status, ...times });
  // Who runs still has its resource.
  if (status !== 'pending' && status !== 'canceling') await resourcesChanged(tx, jobs);
};

const start = async (tx: Tx, jobs: readonly LatestJob[]): Promise<void> => {
  const waiting = jobs.filter((job) => job.resource_group !== null);
  const free = jobs.filter((job) => job.resource_group === null);
  await setStatus(tx, waiting, 'waiting_for_resource');
  await setStatus(tx, free, 'pending');
  await putInQueue(tx, free);
};

const schedule = async (tx: Tx, jobs: readonly LatestJob[]): Promise<void> => {
  const configs = await jobConfigsOf(tx.db, jobs);
  const timeOf = ({ config_id }: LatestJob): number =>
    tx.now + (configs.get(config_id)?.start_in ?? 0) * 1000;
  for (const [scheduled_at, group] of Map.groupBy(jobs, timeOf)) {
    const { pipeline_id = 0 } = group[0] ?? {};
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await setStatus(tx, group, 'scheduled', { scheduled_at });
    // oxlint-disable-next-line no-await-in-loop
    await enqueue(tx, delayedWork, { pipeline_id }, { run_at: scheduled_at });
  }
};

/** As `processJobs` says. */
export const moveJobs = async (
  tx: Tx,
  jobs: readonly LatestJob[],
  steps: ReadonlyMap<number, JobStatus>,
): Promise<void> => {
  const to = Map.groupBy(
    jobs.filter(({ id }) => steps.has(id)),
    ({ id }) => steps.get(id),
  );
  await setStatus(tx, to.get('skipped') ?? [], 'skipped');
  await setStatus(tx, to.get('manual') ?? [], 'manual');
  await schedule(tx, to.get('scheduled') ?? []);
  await start(tx, [...(to.get('pending') ?? []), ...(to.get('waiting_for_resource') ?? [])]);
};
