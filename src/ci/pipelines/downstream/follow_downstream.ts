/** Updates trigger and mirror jobs from the pipeline that they follow. Locks only the job's own pipeline. */
import type { Trigger } from '../../ci_file/config_types.ts';
import type { Reader, Store, Tx } from '../../../platform/db/open.ts';
import { handleJobStart } from '../../environments/follow_jobs.ts';
import { advanceLockedPipeline } from '../processing/advance_pipeline.ts';
import { toBridgeStatus } from './bridge_status.ts';
import { isEnded } from '../../../core/job_statuses.ts';
import { creationFailed } from './resolve_target.ts';
import { enqueueCancelDownstream, enqueueReopenUpstream } from './work.ts';
import { changeJob, failJob, endJob } from '../processing/job_transitions.ts';
import { resetSkipped } from '../processing/restart_skipped.ts';
import {
  type Job,
  type LockedJob,
  type Pipeline,
  loadJobConfig,
  lockJob,
  selectPipelineById,
} from '../pipeline_rows.ts';

type Downstream = Pick<Pipeline, 'id' | 'status' | 'failure_reason'>;

/** Finds the pipeline that a job has started; null if there is none. */
export const findDownstream = async (db: Reader, job_id: number): Promise<Downstream | null> =>
  (await db
    .selectFrom('pipelines')
    .select(['id', 'status', 'failure_reason'])
    .where('source_job_id', '=', job_id)
    .executeTakeFirst()) ?? null;

/** Finds the pipeline that the job follows: its downstream or the mirrored pipeline. null if there is none. */
const findFollowedPipeline = async (
  db: Reader,
  { id, mirrored_pipeline_id }: Job,
): Promise<Downstream | null> => {
  if (mirrored_pipeline_id === null) return await findDownstream(db, id);
  const [mirrored] = await selectPipelineById(db, { id: mirrored_pipeline_id });
  return mirrored ?? null;
};

const loadStrategy = async (db: Reader, job: Job): Promise<Trigger['strategy']> => {
  if (job.mirrored_pipeline_id !== null) return 'mirror';
  return (await loadJobConfig(db, job)).trigger?.strategy ?? null;
};

/** Returns whether the job has a pipeline and waits for it. */
const isFollowing = ({ status, started_at }: Job): boolean =>
  started_at !== null && (status === 'running' || status === 'manual');

const startBridge = async (tx: Tx, { job }: LockedJob): Promise<Job> => {
  const started = await changeJob(tx, job, { status: 'running', started_at: tx.now });
  await handleJobStart(tx, started);
  return started;
};

/** Runs a finished trigger job and the jobs that wait for it again, after a user restarted its pipeline. */
const reopenBridge = async (tx: Tx, { pipeline, job }: LockedJob, user_id: number): Promise<Job> => {
  const reopened = await changeJob(tx, job, { status: 'running', finished_at: null, failure_reason: null });
  await advanceLockedPipeline(tx, pipeline, { jobs: await resetSkipped(tx, pipeline, new Set([job.id])) });
  await enqueueReopenUpstream(tx, pipeline, user_id);
  return reopened;
};

const syncOpenBridge = async (tx: Tx, locked: LockedJob, downstream: Downstream): Promise<void> => {
  const strategy = await loadStrategy(tx.db, locked.job);
  const isNew = locked.job.status === 'pending';
  const job = isNew ? await startBridge(tx, locked) : locked.job;
  const status = toBridgeStatus(strategy, downstream.status);
  if (isEnded(status)) {
    const failure_reason = status === 'failed' ? 'unknown_failure' : null;
    await endJob(tx, { ...locked, job }, { status, failure_reason });
  } else if (isNew || status !== job.status) {
    if (status !== job.status) await changeJob(tx, job, { status });
    await advanceLockedPipeline(tx, locked.pipeline);
  }
};

const syncEndedBridge = async (
  tx: Tx,
  locked: LockedJob,
  downstream: Downstream,
  user_id: number,
): Promise<void> => {
  const { job } = locked;
  const strategy = await loadStrategy(tx.db, job);
  if (strategy === null || job.retried === 1 || job.started_at === null) return;
  if (toBridgeStatus(strategy, downstream.status) === job.status) return;
  const reopened = await reopenBridge(tx, locked, user_id);
  // The downstream pipeline may have ended again meanwhile.
  await syncOpenBridge(tx, { ...locked, job: reopened }, downstream);
};

const syncBridge = async (tx: Tx, job_id: number, reopenedBy: number | null): Promise<void> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null) return;
  const { job } = locked;
  const downstream = await findFollowedPipeline(tx.db, job);
  const isTrigger = job.mirrored_pipeline_id === null;
  if (downstream === null) {
    if (isFollowing(job)) await failJob(tx, job_id, 'unknown_failure');
  } else if (isTrigger && job.status === 'pending' && downstream.failure_reason === 'config_error') {
    await failJob(tx, job_id, creationFailed);
  } else if (job.status === 'pending' || isFollowing(job)) {
    await syncOpenBridge(tx, locked, downstream);
  } else if (job.status === 'canceled' && job.started_at === null) {
    // The job was canceled while its pipeline was being created.
    await enqueueCancelDownstream(tx, { pipeline_id: job.pipeline_id, job_id, is_any: true });
  } else if (reopenedBy !== null && isEnded(job.status))
    await syncEndedBridge(tx, locked, downstream, reopenedBy);
};

/**
 * Updates a trigger job from its pipeline. Idempotent; safe to call at any time.
 * @param reopenedBy id of the user who restarted the pipeline and may reopen the job
 */
export const followDownstream = async (
  store: Store,
  job_id: number,
  reopenedBy: number | null = null,
): Promise<void> => await store.write(async (tx) => await syncBridge(tx, job_id, reopenedBy));

/** Jobs read per query. */
const batch = 200;

const findMirrorJobIds = async (db: Reader, pipeline_id: number, after: number): Promise<number[]> => {
  const rows = await db
    .selectFrom('jobs')
    .select('id')
    .where('mirrored_pipeline_id', '=', pipeline_id)
    .where('id', '>', after)
    .where('status', 'in', ['pending', 'running', 'manual'])
    .orderBy('id')
    .limit(batch)
    .execute();
  return rows.map(({ id }) => id);
};

/** Updates all jobs, in any project, that mirror this pipeline. */
export const followMirrored = async (store: Store, pipeline_id: number): Promise<void> => {
  for (let after = 0; ;) {
    const ids = await findMirrorJobIds(store.db, pipeline_id, after);
    for (const id of ids) {
      await followDownstream(store, id);
    }
    if (ids.length < batch) return;
    after = ids.at(-1) ?? after;
  }
};
