/** Where the jobs of a pipeline go next. Pure. */
import type { JobStatus, JobsTable } from '../db/schema_ci.ts';
import { type EndedStatus, type Kinds, isEnded, kindOf, statusOfKinds } from './composite.ts';

export type ProcessJob = Pick<
  JobsTable,
  'name' | 'stage_position' | 'status' | 'run_when' | 'allow_failure' | 'resource_group'
> & {
  id: number;
  /** Names of the jobs that it waits for; null: it waits for the stages before its own. */
  needs: readonly string[] | null;
};

/** What a job becomes that may begin, by itself or because somebody says so. */
export const startedStatus = ({ resource_group }: Pick<ProcessJob, 'resource_group'>): JobStatus =>
  resource_group === null ? 'pending' : 'waiting_for_resource';

const begun = (job: ProcessJob): JobStatus => {
  if (job.run_when === 'manual') return 'manual';
  return job.run_when === 'delayed' ? 'scheduled' : startedStatus(job);
};

const runsAfter = ({ run_when, needs }: ProcessJob, before: EndedStatus): boolean => {
  if (run_when === 'always') return true;
  if (run_when === 'on_failure') return before === 'failed';
  // Who names what he needs needs it done; a stage in which nothing ran holds nobody up.
  return before === 'success' || (before === 'skipped' && needs === null);
};

/** What it becomes once all that it waits for has ended so. */
const nextStatus = (job: ProcessJob, before: EndedStatus): JobStatus =>
  runsAfter(job, before) ? begun(job) : 'skipped';

type Look = { byName: ReadonlyMap<string, ProcessJob>; statuses: Map<number, JobStatus> };

const kindNow = ({ statuses }: Look, job: ProcessJob) =>
  kindOf({ status: statuses.get(job.id) ?? job.status, allow_failure: job.allow_failure });

/** How what it needs has ended; null: it has not. */
const endOfNeeds = (look: Look, { run_when, needs }: ProcessJob): EndedStatus | null => {
  const found = (needs ?? []).flatMap((name) => look.byName.get(name) ?? []);
  if (found.length === 0) return 'success';
  const kinds: Kinds = new Set(found.map((job) => kindNow(look, job)));
  const isMissed = kinds.has('skipped') || kinds.has('ignored');
  const isOver = [...kinds].every((kind) => kind === 'warned' || kind === 'ignored' || isEnded(kind));
  // One that only begins after success need not wait to know that there will be none.
  if (isMissed && (isOver || (run_when !== 'always' && run_when !== 'on_failure'))) return 'skipped';
  if (!isOver) return null;
  const status = statusOfKinds(kinds);
  return isEnded(status) ? status : null;
};

const endOfStages = (before: Kinds): EndedStatus | null => {
  if (before.size === 0) return 'success';
  const status = statusOfKinds(before);
  return isEnded(status) ? status : null;
};

const byStage = (jobs: readonly ProcessJob[]): ProcessJob[][] =>
  [...Map.groupBy(jobs, (job) => job.stage_position)]
    .toSorted(([a], [b]) => a - b)
    .map(([, ofStage]) => ofStage);

/** Looks at each job once; whether any has changed. */
const pass = (look: Look, stages: readonly ProcessJob[][]): boolean => {
  const { statuses } = look;
  const before: Kinds = new Set();
  const sizeBefore = statuses.size;
  for (const jobs of stages) {
    const ofStages = endOfStages(before);
    for (const job of jobs) {
      if (job.status !== 'created' || statuses.has(job.id)) continue;
      const end = job.needs === null ? ofStages : endOfNeeds(look, job);
      if (end !== null) statuses.set(job.id, nextStatus(job, end));
    }
    for (const job of jobs) before.add(kindNow(look, job));
  }
  return statuses.size > sizeBefore;
};

/** Of the jobs that others have not taken the place of: those that change, and to what. */
export const processJobs = (jobs: readonly ProcessJob[]): Map<number, JobStatus> => {
  const look: Look = { byName: new Map(jobs.map((job) => [job.name, job])), statuses: new Map() };
  const stages = byStage(jobs);
  while (pass(look, stages));
  return look.statuses;
};

/** Of those that were skipped, the ones that may run after all when one of `changed` runs again. */
export const awokenBy = (jobs: readonly ProcessJob[], changed: readonly ProcessJob[]): ProcessJob[] => {
  const position = Math.min(...changed.map((job) => job.stage_position));
  const names = new Set(changed.map((job) => job.name));
  const needers = (): ProcessJob[] =>
    jobs.filter((job) => !names.has(job.name) && job.needs?.some((name) => names.has(name)) === true);
  for (let found = needers(); found.length > 0; found = needers()) {
    for (const job of found) names.add(job.name);
  }
  return jobs.filter(
    (job) => job.status === 'skipped' && (job.stage_position > position || names.has(job.name)),
  );
};
