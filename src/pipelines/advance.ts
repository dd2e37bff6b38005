/** After any change of a pipeline's jobs, in its transaction: what may start does, and what they are in all is told. */
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';
import type { JobStatus } from '../db/schema_ci.ts';
import { type Counted, compositeStatus, isEnded } from './composite.ts';
import { followLater, mirrorLater } from './downstream_work.ts';
import { endLater } from './ended.ts';
import { countedStatuses, externalPosition } from './external_statuses.ts';
import { type LatestJob, loadLatestJobs } from './latest_jobs.ts';
import { moveJobs } from './move_jobs.ts';
import { processJobs, startedStatus } from './process.ts';
import { runTime } from './run_time.ts';
import { type Pipeline, lockPipeline } from './store.ts';

const startJobs = async (tx: Tx, jobs: readonly LatestJob[], chosen: ReadonlySet<number>): Promise<void> => {
  const now = jobs.filter(({ id }) => chosen.has(id));
  await moveJobs(tx, jobs, new Map(now.map((job) => [job.id, startedStatus(job)])));
  for (;;) {
    const steps = processJobs(jobs);
    if (steps.size === 0) return;
    // Some fail as they start, which others may wait for.
    // oxlint-disable-next-line no-await-in-loop
    await moveJobs(tx, jobs, steps);
  }
};

const stagesOf = compiled((db, { pipeline_id }: { pipeline_id: number }) =>
  db
    .selectFrom('stages')
    .select(['id', 'status', 'position'])
    .where('pipeline_id', '=', pipeline_id)
    .compile(),
);

const stageUpdate = compiled((db, { status, ids }: { status: JobStatus; ids: number[] }, words) =>
  db.updateTable('stages').set({ status }).where(words.oneOf('id', ids)).compile(),
);

/** Answers what other systems say, which has the last of the stages. */
const setStages = async (tx: Tx, pipeline_id: number, jobs: readonly LatestJob[]): Promise<Counted[]> => {
  const stages = await stagesOf(tx.db, { pipeline_id });
  const ofStage = new Map<number, readonly Counted[]>(Map.groupBy(jobs, ({ stage_id }) => stage_id));
  const external = stages.find(({ position }) => position === externalPosition);
  const said = external === undefined ? [] : await countedStatuses(tx, pipeline_id);
  if (external !== undefined) ofStage.set(external.id, said);
  const statuses = new Map(stages.map(({ id }) => [id, compositeStatus(ofStage.get(id) ?? [])]));
  const changed = Map.groupBy(
    stages.filter(({ id, status }) => statuses.get(id) !== status),
    ({ id }) => statuses.get(id) ?? 'created',
  );
  for (const [status, group] of changed) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await stageUpdate(tx.db, { status, ids: group.map(({ id }) => id) });
  }
  return said;
};

type Told = Pick<Pipeline, 'id' | 'status' | 'updated_at' | 'started_at' | 'finished_at' | 'duration'>;

const pipelineUpdate = compiled((db, given: Told) =>
  db
    .updateTable('pipelines')
    .set({
      status: given.status,
      updated_at: given.updated_at,
      started_at: given.started_at,
      finished_at: given.finished_at,
      duration: given.duration,
    })
    .where('id', '=', given.id)
    .compile(),
);

/** What another pipeline takes is told there. */
const ownJobs = (jobs: readonly LatestJob[]): LatestJob[] => jobs.filter(({ bridge }) => bridge === 0);

const started = (status: JobStatus): boolean => status === 'running' || status === 'canceling';

const setPipeline = async (
  tx: Tx,
  pipeline: Pipeline,
  status: JobStatus,
  jobs: readonly LatestJob[],
): Promise<void> => {
  if (status === pipeline.status) return;
  const isOver = isEnded(status);
  const isAsked = !isOver && (status === 'manual' || pipeline.status === 'manual');
  const isBegun = started(status) || jobs.some((job) => job.started_at !== null);
  const change: Told = {
    id: pipeline.id,
    status,
    updated_at: tx.now,
    started_at: pipeline.started_at ?? (isBegun ? tx.now : null),
    finished_at: isOver ? tx.now : null,
    duration: isOver ? runTime(ownJobs(jobs), tx.now) : pipeline.duration,
  };
  await pipelineUpdate(tx.db, change);
  Object.assign(pipeline, change);
  if (isOver) await endLater(tx, pipeline.id);
  if (isAsked) await mirrorLater(tx, pipeline.id);
  if (pipeline.source_job_id !== null) await followLater(tx, pipeline.source_job_id);
};

/** One that could not be made as its file says has failed, whatever else is said of it. */
const wholeStatus = (
  { failure_reason }: Pipeline,
  jobs: readonly Counted[],
  said: readonly Counted[],
): JobStatus => {
  if (failure_reason !== null) return 'failed';
  return compositeStatus(said.length === 0 ? jobs : [...jobs, ...said]);
};

/** `chosen`: ids of those that start whatever they wait for. Brings `pipeline` up to date, too. */
export const advanceLocked = async (
  tx: Tx,
  pipeline: Pipeline,
  { jobs, chosen = new Set() }: { jobs?: LatestJob[]; chosen?: ReadonlySet<number> } = {},
): Promise<void> => {
  const latest = jobs ?? (await loadLatestJobs(tx.db, pipeline.id));
  await startJobs(tx, latest, chosen);
  const said = await setStages(tx, pipeline.id, latest);
  await setPipeline(tx, pipeline, wholeStatus(pipeline, latest, said), latest);
};

const goesOn = (status: JobStatus): boolean => status === 'pending' || status === 'running';

/**
 * Some jobs of a locked pipeline run now that waited for a runner. Where nothing is being cancelled, it runs, as do
 * their stages, and nothing else goes on for that: not all of its jobs are loaded to see it.
 */
export const advanceStarted = async (
  tx: Tx,
  pipeline: Pipeline,
  stages: readonly { id: number; status: JobStatus }[],
): Promise<void> => {
  if (!goesOn(pipeline.status) || !stages.every(({ status }) => goesOn(status))) {
    await advanceLocked(tx, pipeline);
    return;
  }
  const waiting = stages.filter(({ status }) => status === 'pending');
  const ids = [...new Set(waiting.map(({ id }) => id))];
  if (ids.length > 0) await stageUpdate(tx.db, { status: 'running', ids });
  await setPipeline(tx, pipeline, 'running', []);
};

/** Does nothing with a pipeline that is gone. */
export const advance = async (tx: Tx, pipeline_id: number): Promise<void> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline !== null) await advanceLocked(tx, pipeline);
};
