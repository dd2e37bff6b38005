/** Checks what jobs of a file say about each other: stages, dependencies, needs and `on_stop`. */
import type { At } from './keywords/typed_values.ts';
import type { Job } from './config_types.ts';

type JobsContext = Pick<At, 'problems'> & {
  stages: readonly string[];
  /** Count before `parallel`. */
  jobs: readonly Job[];
  /** Keyed by the names in the file, and by the names that `parallel` creates. */
  named: ReadonlyMap<string, Job>;
};

const edgeStages = new Set(['.pre', '.post']);

const checkStage = ({ problems, stages }: JobsContext, { group, stage, position }: Job): boolean => {
  if (stages.includes(stage)) return true;
  const configured = stages.filter((one) => !edgeStages.has(one)).join(', ');
  const text = `${group} job: chosen stage does not exist; available stages are ${stages.join(', ')}`;
  problems.error(text, position, `${group} job: stage parameter should be ${configured}`);
  return false;
};

const checkDependencies = ({ problems, stages, named }: JobsContext, job: Job): void => {
  const { group, position } = job;
  for (const name of job.dependencies ?? []) {
    const dependency = named.get(name);
    if (dependency === undefined) problems.error(`${group} job: undefined dependency: ${name}`, position);
    else if (stages.indexOf(dependency.stage) > stages.indexOf(job.stage)) {
      const text = `${group} job: dependency ${name} is not defined in`;
      problems.error(`${text} current or prior stages`, position, `${text} prior stages`);
    }
  }
};

const listNeeds = (job: Job): { job: string; optional: boolean }[] => [
  ...(job.needs ?? []),
  ...(job.rules ?? []).flatMap(({ needs }) => needs ?? []),
];

const checkNeeds = ({ problems, stages, named }: JobsContext, job: Job): void => {
  const { group, position, stage } = job;
  for (const { job: name, optional } of listNeeds(job)) {
    const needed = named.get(name);
    if (needed === undefined) {
      if (!optional) problems.error(`${group} job: undefined need: ${name}`, position);
    } else if (stages.indexOf(needed.stage) > stages.indexOf(stage)) {
      problems.error(`${group} job: need ${name} is not defined in current or prior stages`, position);
    }
  }
  const names = (job.needs ?? []).map((need) => `${need.job} ${JSON.stringify(need.matrix)}`);
  const duplicate = job.needs?.find((_, at) => names.indexOf(names[at] ?? '') !== at);
  if (duplicate !== undefined)
    problems.error(`${group} has the following needs duplicated: ${duplicate.job}.`, position);
};

/** Reports circular needs. Visits each job once. */
const checkCycles = ({ problems, jobs, named }: JobsContext): void => {
  const state = new Map<string, 'open' | 'done'>();
  for (const start of jobs) {
    const path: { job: Job; pending: string[] }[] = [];
    const visit = (job: Job): void => {
      state.set(job.group, 'open');
      path.push({ job, pending: listNeeds(job).map((need) => need.job) });
    };
    if (!state.has(start.group)) visit(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const name = top.pending.pop();
      const next = name === undefined ? undefined : named.get(name);
      if (name === undefined) state.set(path.pop()?.job.group ?? '', 'done');
      else if (next !== undefined && state.get(next.group) === 'open') {
        problems.error('The pipeline has circular dependencies', top.job.position);
      } else if (next !== undefined && !state.has(next.group)) visit(next);
    }
  }
};

const findStopProblem = (job: Job, stop: Job | undefined): string | null => {
  if (stop === undefined) return 'is not defined';
  if (stop.environment === null) return 'does not have environment defined';
  if (stop.environment.name !== job.environment?.name) return 'have different environment name';
  return stop.environment.action === 'stop' ? null : 'needs to have action stop defined';
};

const checkStop = ({ problems, named }: JobsContext, job: Job): void => {
  const name = job.environment?.on_stop ?? null;
  const problem = name === null ? null : findStopProblem(job, named.get(name));
  if (problem !== null) problems.error(`${job.group} job: on_stop job ${name} ${problem}`, job.position);
};

export const checkJobs = (context: JobsContext): void => {
  let areStagesValid = true;
  for (const job of context.jobs) {
    areStagesValid = checkStage(context, job) && areStagesValid;
    checkDependencies(context, job);
    checkNeeds(context, job);
    checkStop(context, job);
  }
  if (areStagesValid) checkCycles(context);
};
