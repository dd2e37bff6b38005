/** Computes the next statuses of a pipeline's jobs. Pure. */
import type { JobStatus, JobsTable } from '../../../platform/db/schema/ci.ts';
import { type EffectiveStatuses, toEffectiveStatus, combineEffectiveStatuses } from './combine_statuses.ts';
import { type EndedStatus, isEnded } from '../../../core/job_statuses.ts';

export type ProcessJob = Pick<
  JobsTable,
  'name' | 'stage_position' | 'status' | 'run_when' | 'allow_failure' | 'resource_group'
> & {
  id: number;
  /** Names of the jobs that this one waits for; null: it waits for the stages before its own. */
  needs: readonly string[] | null;
};

/** Returns the status of a job that may start now. */
export const getStartedStatus = ({ resource_group }: Pick<ProcessJob, 'resource_group'>): JobStatus =>
  resource_group === null ? 'pending' : 'waiting_for_resource';

const toInitialStatus = (job: ProcessJob): JobStatus => {
  if (job.run_when === 'manual') return 'manual';
  return job.run_when === 'delayed' ? 'scheduled' : getStartedStatus(job);
};

const runsAfter = ({ run_when, needs }: ProcessJob, result: EndedStatus): boolean => {
  if (run_when === 'always') return true;
  if (run_when === 'on_failure') return result === 'failed';
  // Needs must have succeeded; a stage whose jobs were all skipped does not block the next one.
  return result === 'success' || (result === 'skipped' && needs === null);
};

/** Returns the job's status once everything it waits for has ended with `result`. */
const nextStatus = (job: ProcessJob, result: EndedStatus): JobStatus =>
  runsAfter(job, result) ? toInitialStatus(job) : 'skipped';

type ProcessingState = { byName: ReadonlyMap<string, ProcessJob>; statuses: Map<number, JobStatus> };

const getEffectiveStatus = ({ statuses }: ProcessingState, job: ProcessJob) =>
  toEffectiveStatus({ status: statuses.get(job.id) ?? job.status, allow_failure: job.allow_failure });

/** Combines the results of the needed jobs; null while they are unfinished. */
const getEndOfNeeds = (state: ProcessingState, { run_when, needs }: ProcessJob): EndedStatus | null => {
  const neededJobs = (needs ?? []).flatMap((name) => state.byName.get(name) ?? []);
  if (neededJobs.length === 0) return 'success';
  const kinds: EffectiveStatuses = new Set(neededJobs.map((job) => getEffectiveStatus(state, job)));
  const hasSkipped = kinds.has('skipped') || kinds.has('ignored');
  const haveEnded = [...kinds].every((kind) => kind === 'warned' || kind === 'ignored' || isEnded(kind));
  // A job that runs only on success is skipped as soon as one need was skipped.
  if (hasSkipped && (haveEnded || (run_when !== 'always' && run_when !== 'on_failure'))) return 'skipped';
  if (!haveEnded) return null;
  const status = combineEffectiveStatuses(kinds);
  return isEnded(status) ? status : null;
};

const getEndOfStages = (before: EffectiveStatuses): EndedStatus | null => {
  if (before.size === 0) return 'success';
  const status = combineEffectiveStatuses(before);
  return isEnded(status) ? status : null;
};

const groupByStage = (jobs: readonly ProcessJob[]): ProcessJob[][] =>
  [...Map.groupBy(jobs, (job) => job.stage_position)]
    .toSorted(([a], [b]) => a - b)
    .map(([, ofStage]) => ofStage);

/** Processes each job once. Returns whether any status changed. */
const processOnce = (state: ProcessingState, stages: readonly ProcessJob[][]): boolean => {
  const { statuses } = state;
  const before: EffectiveStatuses = new Set();
  const sizeBefore = statuses.size;
  for (const jobs of stages) {
    const ofStages = getEndOfStages(before);
    for (const job of jobs) {
      if (job.status !== 'created' || statuses.has(job.id)) continue;
      const result = job.needs === null ? ofStages : getEndOfNeeds(state, job);
      if (result !== null) statuses.set(job.id, nextStatus(job, result));
    }
    for (const job of jobs) before.add(getEffectiveStatus(state, job));
  }
  return statuses.size > sizeBefore;
};

/** Returns the new status of each job that changes, by id. `jobs` are the current jobs, without retried jobs. */
export const computeNextStatuses = (jobs: readonly ProcessJob[]): Map<number, JobStatus> => {
  const state: ProcessingState = { byName: new Map(jobs.map((job) => [job.name, job])), statuses: new Map() };
  const stages = groupByStage(jobs);
  while (processOnce(state, stages));
  return state.statuses;
};

/** Returns the skipped jobs that can run now because one of `changed` runs again. */
export const findRestartable = (
  jobs: readonly ProcessJob[],
  changed: readonly ProcessJob[],
): ProcessJob[] => {
  const position = Math.min(...changed.map((job) => job.stage_position));
  const names = new Set(changed.map((job) => job.name));
  const findDependents = (): ProcessJob[] =>
    jobs.filter((job) => !names.has(job.name) && job.needs?.some((name) => names.has(name)) === true);
  for (let dependents = findDependents(); dependents.length > 0; dependents = findDependents()) {
    for (const job of dependents) names.add(job.name);
  }
  return jobs.filter(
    (job) => job.status === 'skipped' && (job.stage_position > position || names.has(job.name)),
  );
};
