/** Starts jobs that are ready and updates stage and pipeline status, in the transaction of a job's change. */
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { collectPipeline } from '../../../core/events/collect_statuses.ts';
import { type StatusEntry, combineStatuses } from './combine_statuses.ts';
import { isEnded } from '../../../core/job_statuses.ts';
import { enqueueFollow, enqueueFollowMirrored } from '../downstream/work.ts';
import { enqueuePipelineEnded } from '../enqueue_pipeline_ended.ts';
import { loadDistinctStatuses, externalStagePosition } from '../statuses/external_stage.ts';
import { type LatestJob, loadLatestJobs } from './latest_jobs.ts';
import { applyNextStatuses } from './set_job_statuses.ts';
import { computeNextStatuses, getStartedStatus } from './compute_next_statuses.ts';
import { computeRunTime } from './run_time.ts';
import { type Pipeline, lockPipeline } from '../pipeline_rows.ts';

const startJobs = async (tx: Tx, jobs: readonly LatestJob[], chosen: ReadonlySet<number>): Promise<void> => {
  const now = jobs.filter(({ id }) => chosen.has(id));
  await applyNextStatuses(tx, jobs, new Map(now.map((job) => [job.id, getStartedStatus(job)])));
  for (;;) {
    const steps = computeNextStatuses(jobs);
    if (steps.size === 0) return;
    // A job may change immediately and so release others.
    await applyNextStatuses(tx, jobs, steps);
  }
};

const selectStages = compiled((db, { pipeline_id }: { pipeline_id: number }) =>
  db
    .selectFrom('stages')
    .select(['id', 'status', 'position'])
    .where('pipeline_id', '=', pipeline_id)
    .compile(),
);

const updateStages = compiled((db, { status, ids }: { status: JobStatus; ids: number[] }, dialect) =>
  db.updateTable('stages').set({ status }).where(dialect.oneOf('id', ids)).compile(),
);

/** Updates the stages' statuses. Returns the external statuses, which form the last stage. */
const refreshStages = async (
  tx: Tx,
  pipeline_id: number,
  jobs: readonly LatestJob[],
): Promise<StatusEntry[]> => {
  const stages = await selectStages(tx.db, { pipeline_id });
  const byStage = new Map<number, readonly StatusEntry[]>(Map.groupBy(jobs, ({ stage_id }) => stage_id));
  const external = stages.find(({ position }) => position === externalStagePosition);
  const externalStatuses = external === undefined ? [] : await loadDistinctStatuses(tx, pipeline_id);
  if (external !== undefined) byStage.set(external.id, externalStatuses);
  const statuses = new Map(stages.map(({ id }) => [id, combineStatuses(byStage.get(id) ?? [])]));
  const changed = Map.groupBy(
    stages.filter(({ id, status }) => statuses.get(id) !== status),
    ({ id }) => statuses.get(id) ?? 'created',
  );
  for (const [status, group] of changed) {
    await updateStages(tx.db, { status, ids: group.map(({ id }) => id) });
  }
  return externalStatuses;
};

type PipelineState = Pick<
  Pipeline,
  'id' | 'status' | 'updated_at' | 'started_at' | 'finished_at' | 'duration'
>;

const updatePipeline = compiled((db, state: PipelineState) =>
  db
    .updateTable('pipelines')
    .set({
      status: state.status,
      updated_at: state.updated_at,
      started_at: state.started_at,
      finished_at: state.finished_at,
      duration: state.duration,
    })
    .where('id', '=', state.id)
    .compile(),
);

/** Excludes trigger jobs: their run time counts in the downstream pipeline. */
const withoutBridges = (jobs: readonly LatestJob[]): LatestJob[] => jobs.filter(({ bridge }) => bridge === 0);

const isStarted = (status: JobStatus): boolean => status === 'running' || status === 'canceling';

const setPipelineStatus = async (
  tx: Tx,
  pipeline: Pipeline,
  status: JobStatus,
  jobs: readonly LatestJob[],
): Promise<void> => {
  if (status === pipeline.status) return;
  const isFinished = isEnded(status);
  const isManualChange = !isFinished && (status === 'manual' || pipeline.status === 'manual');
  const hasStarted = isStarted(status) || jobs.some((job) => job.started_at !== null);
  const change: PipelineState = {
    id: pipeline.id,
    status,
    updated_at: tx.now,
    started_at: pipeline.started_at ?? (hasStarted ? tx.now : null),
    finished_at: isFinished ? tx.now : null,
    duration: isFinished ? computeRunTime(withoutBridges(jobs), tx.now) : pipeline.duration,
  };
  await updatePipeline(tx.db, change);
  Object.assign(pipeline, change);
  collectPipeline(tx, pipeline);
  if (isFinished) await enqueuePipelineEnded(tx, pipeline.id);
  if (isManualChange) await enqueueFollowMirrored(tx, pipeline.id);
  if (pipeline.source_job_id !== null) await enqueueFollow(tx, pipeline.source_job_id);
};

/** Combines jobs and external statuses. A pipeline with a failure reason has failed. */
const toPipelineStatus = (
  { failure_reason }: Pipeline,
  jobs: readonly StatusEntry[],
  externalStatuses: readonly StatusEntry[],
): JobStatus => {
  if (failure_reason !== null) return 'failed';
  return combineStatuses(externalStatuses.length === 0 ? jobs : [...jobs, ...externalStatuses]);
};

/** Advances a locked pipeline and updates the `pipeline` object. `chosen`: ids of jobs that start without waiting. */
export const advanceLockedPipeline = async (
  tx: Tx,
  pipeline: Pipeline,
  { jobs, chosen = new Set() }: { jobs?: LatestJob[]; chosen?: ReadonlySet<number> } = {},
): Promise<void> => {
  const latest = jobs ?? (await loadLatestJobs(tx.db, pipeline.id));
  await startJobs(tx, latest, chosen);
  const externalStatuses = await refreshStages(tx, pipeline.id, latest);
  await setPipelineStatus(tx, pipeline, toPipelineStatus(pipeline, latest, externalStatuses), latest);
};

const isActive = (status: JobStatus): boolean => status === 'pending' || status === 'running';

/**
 * Marks a locked pipeline and stages as running after runners took some of its jobs. Loads no other jobs, unless
 * something is being canceled.
 */
export const advanceStarted = async (
  tx: Tx,
  pipeline: Pipeline,
  stages: readonly { id: number; status: JobStatus }[],
): Promise<void> => {
  if (!isActive(pipeline.status) || !stages.every(({ status }) => isActive(status))) {
    await advanceLockedPipeline(tx, pipeline);
    return;
  }
  const waiting = stages.filter(({ status }) => status === 'pending');
  const ids = [...new Set(waiting.map(({ id }) => id))];
  if (ids.length > 0) await updateStages(tx.db, { status: 'running', ids });
  await setPipelineStatus(tx, pipeline, 'running', []);
};

/** Locks and advances a pipeline. Does nothing if it is gone. */
export const advancePipeline = async (tx: Tx, pipeline_id: number): Promise<void> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline !== null) await advanceLockedPipeline(tx, pipeline);
};
