/** A job that has started another pipeline, or mirrors one, goes on as that does. Only its own pipeline is locked. */
import type { Trigger } from '../ci_file/plan_types.ts';
import type { Reader, Store, Tx } from '../db/open.ts';
import { jobStarted } from '../environments/follow.ts';
import { advanceLocked } from './advance.ts';
import { bridgeStatus } from './bridge_status.ts';
import { isEnded } from './composite.ts';
import { creationFailed } from './downstream_target.ts';
import { cancelStartedLater, followAgainLater } from './downstream_work.ts';
import { changeJob, dropJob, endJob } from './job_states.ts';
import { awaken } from './start_again.ts';
import { type Job, type LockedJob, type Pipeline, jobConfigOf, lockJob, pipelineById } from './store.ts';

type Downstream = Pick<Pipeline, 'id' | 'status' | 'failure_reason'>;

/** null: there is none, or no more. */
export const downstreamOf = async (db: Reader, job_id: number): Promise<Downstream | null> =>
  (await db
    .selectFrom('pipelines')
    .select(['id', 'status', 'failure_reason'])
    .where('source_job_id', '=', job_id)
    .executeTakeFirst()) ?? null;

/** What the job goes as; null: it is gone, or there never was any. */
const followedBy = async (db: Reader, { id, mirrored_pipeline_id }: Job): Promise<Downstream | null> => {
  if (mirrored_pipeline_id === null) return await downstreamOf(db, id);
  const [mirrored] = await pipelineById(db, { id: mirrored_pipeline_id });
  return mirrored ?? null;
};

const strategyOf = async (db: Reader, job: Job): Promise<Trigger['strategy']> => {
  if (job.mirrored_pipeline_id !== null) return 'mirror';
  return (await jobConfigOf(db, job)).trigger?.strategy ?? null;
};

/** It has a pipeline, and waits for it. */
const isFollowing = ({ status, started_at }: Job): boolean =>
  started_at !== null && (status === 'running' || status === 'manual');

const begin = async (tx: Tx, { job }: LockedJob): Promise<Job> => {
  const begun = await changeJob(tx, job, { status: 'running', started_at: tx.now });
  await jobStarted(tx, begun);
  return begun;
};

/** Somebody has the other pipeline run again: so does the job, and what waits for it. */
const reopen = async (tx: Tx, { pipeline, job }: LockedJob, user_id: number): Promise<Job> => {
  const open = await changeJob(tx, job, { status: 'running', finished_at: null, failure_reason: null });
  await advanceLocked(tx, pipeline, { jobs: await awaken(tx, pipeline, job.id) });
  await followAgainLater(tx, pipeline, user_id);
  return open;
};

const followOpen = async (tx: Tx, locked: LockedJob, downstream: Downstream): Promise<void> => {
  const strategy = await strategyOf(tx.db, locked.job);
  const isNew = locked.job.status === 'pending';
  const job = isNew ? await begin(tx, locked) : locked.job;
  const status = bridgeStatus(strategy, downstream.status);
  if (isEnded(status)) {
    const failure_reason = status === 'failed' ? 'unknown_failure' : null;
    await endJob(tx, { ...locked, job }, { status, failure_reason });
  } else if (isNew || status !== job.status) {
    if (status !== job.status) await changeJob(tx, job, { status });
    await advanceLocked(tx, locked.pipeline);
  }
};

const followEnded = async (
  tx: Tx,
  locked: LockedJob,
  downstream: Downstream,
  user_id: number,
): Promise<void> => {
  const { job } = locked;
  const strategy = await strategyOf(tx.db, job);
  if (strategy === null || job.retried === 1 || job.started_at === null) return;
  if (bridgeStatus(strategy, downstream.status) === job.status) return;
  const open = await reopen(tx, locked, user_id);
  // It may have ended again before anybody looked.
  await followOpen(tx, { ...locked, job: open }, downstream);
};

const follow = async (tx: Tx, job_id: number, again: number | null): Promise<void> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null) return;
  const { job } = locked;
  const downstream = await followedBy(tx.db, job);
  const isOwn = job.mirrored_pipeline_id === null;
  if (downstream === null) {
    if (isFollowing(job)) await dropJob(tx, job_id, 'unknown_failure');
  } else if (isOwn && job.status === 'pending' && downstream.failure_reason === 'config_error') {
    await dropJob(tx, job_id, creationFailed);
  } else if (job.status === 'pending' || isFollowing(job)) {
    await followOpen(tx, locked, downstream);
  } else if (job.status === 'canceled' && job.started_at === null) {
    // It was cancelled while the pipeline was made.
    await cancelStartedLater(tx, { pipeline_id: job.pipeline_id, job_id, is_any: true });
  } else if (again !== null && isEnded(job.status)) await followEnded(tx, locked, downstream, again);
};

/**
 * Safe to be called at any time, and twice.
 * @param again who has something of the pipeline run again, and may have the job do so
 */
export const followDownstream = async (
  store: Store,
  job_id: number,
  again: number | null = null,
): Promise<void> => await store.write(async (tx) => await follow(tx, job_id, again));

/** Of one look. */
const batch = 200;

const mirrorsOf = async (db: Reader, pipeline_id: number, after: number): Promise<number[]> => {
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

/** All that go as this pipeline does, of whatever projects. */
export const followMirrored = async (store: Store, pipeline_id: number): Promise<void> => {
  for (let after = 0; ;) {
    // oxlint-disable-next-line no-await-in-loop -- one batch after another
    const ids = await mirrorsOf(store.db, pipeline_id, after);
    for (const id of ids) {
      // oxlint-disable-next-line no-await-in-loop -- each in a transaction of its own
      await followDownstream(store, id);
    }
    if (ids.length < batch) return;
    after = ids.at(-1) ?? after;
  }
};
