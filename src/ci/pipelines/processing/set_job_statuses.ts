/** Sets the status of many jobs of a locked pipeline, in the store and in the loaded objects. */
import type { Tx } from '../../../platform/db/open.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import { collectJobs } from '../../../core/events/collect_statuses.ts';
import type { LatestJob } from './latest_jobs.ts';
import { enqueueJobs } from './pending_jobs.ts';
import { enqueueResourceAssignment } from '../resource_groups/enqueue_assignment.ts';
import { type Job, loadJobConfigs } from '../pipeline_rows.ts';

export const delayedWork = 'pipelines.start_delayed';

type Change = { failure_reason?: string; scheduled_at?: number; cancelled_at?: number; user_id?: number };

type MovedJob = Pick<Job, 'id' | 'project_id' | 'resource_group' | 'status'>;

/**
 * Sets a status in one statement; `change` is stored only, not copied to the loaded objects. A job that this ends never
 * ran; a running job becomes `canceling` here and ends in `finishJob`.
 */
export const setStatus = async (
  tx: Tx,
  jobs: readonly MovedJob[],
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
      tx.dialect.oneOf(
        'id',
        jobs.map(({ id }) => id),
      ),
    )
    .execute();
  for (const job of jobs) Object.assign(job, { status, ...times });
  collectJobs(tx, jobs);
  // A running job keeps its resource.
  if (status !== 'pending' && status !== 'canceling') await enqueueResourceAssignment(tx, jobs);
};

const queueJobs = async (tx: Tx, jobs: readonly LatestJob[]): Promise<void> => {
  const waiting = jobs.filter((job) => job.resource_group !== null);
  const unblocked = jobs.filter((job) => job.resource_group === null);
  await setStatus(tx, waiting, 'waiting_for_resource');
  await setStatus(tx, unblocked, 'pending');
  await enqueueJobs(tx, unblocked);
};

const schedule = async (tx: Tx, jobs: readonly LatestJob[]): Promise<void> => {
  const configs = await loadJobConfigs(tx.db, jobs);
  const getStartTime = ({ config_id }: LatestJob): number =>
    tx.now + (configs.get(config_id)?.start_in ?? 0) * 1000;
  for (const [scheduled_at, group] of Map.groupBy(jobs, getStartTime)) {
    const { pipeline_id = 0 } = group[0] ?? {};
    await setStatus(tx, group, 'scheduled', { scheduled_at });
    await enqueue(tx, delayedWork, { pipeline_id }, { run_at: scheduled_at });
  }
};

/** Applies the next statuses that `computeNextStatuses` returns: skipped, manual, scheduled, pending or waiting. */
export const applyNextStatuses = async (
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
  await queueJobs(tx, [...(to.get('pending') ?? []), ...(to.get('waiting_for_resource') ?? [])]);
};
