/** What the jobs of a file say about each other. */
import type { At } from './check.ts';
import type { Job } from './plan_types.ts';

type Told = Pick<At, 'problems'> & {
  stages: readonly string[];
  /** Before `parallel`. */
  jobs: readonly Job[];
  /** By the names in the file, and by those of what `parallel` makes. */
  named: ReadonlyMap<string, Job>;
};

const edge = new Set(['.pre', '.post']);

const checkStage = ({ problems, stages }: Told, { group, stage, place }: Job): boolean => {
  if (stages.includes(stage)) return true;
  const own = stages.filter((one) => !edge.has(one)).join(', ');
  const text = `${group} job: chosen stage does not exist; available stages are ${stages.join(', ')}`;
  problems.error(text, place, `${group} job: stage parameter should be ${own}`);
  return false;
};

const checkDependencies = ({ problems, stages, named }: Told, job: Job): void => {
  const { group, place } = job;
  for (const name of job.dependencies ?? []) {
    const other = named.get(name);
    if (other === undefined) problems.error(`${group} job: undefined dependency: ${name}`, place);
    else if (stages.indexOf(other.stage) > stages.indexOf(job.stage)) {
      const text = `${group} job: dependency ${name} is not defined in`;
      problems.error(`${text} current or prior stages`, place, `${text} prior stages`);
    }
  }
};

const neededBy = (job: Job): { job: string; optional: boolean }[] => [
  ...(job.needs ?? []),
  ...(job.rules ?? []).flatMap(({ needs }) => needs ?? []),
];

const checkNeeds = ({ problems, stages, named }: Told, job: Job): void => {
  const { group, place, stage } = job;
  for (const { job: name, optional } of neededBy(job)) {
    const other = named.get(name);
    if (other === undefined) {
      if (!optional) problems.error(`${group} job: undefined need: ${name}`, place);
    } else if (stages.indexOf(other.stage) > stages.indexOf(stage)) {
      problems.error(`${group} job: need ${name} is not defined in current or prior stages`, place);
    }
  }
  const names = (job.needs ?? []).map((need) => `${need.job} ${JSON.stringify(need.matrix)}`);
  const twice = job.needs?.find((_, at) => names.indexOf(names[at] ?? '') !== at);
  if (twice !== undefined)
    problems.error(`${group} has the following needs duplicated: ${twice.job}.`, place);
};

/** Found by walking once over each job: none may need itself by way of others. */
const checkCycles = ({ problems, jobs, named }: Told): void => {
  const state = new Map<string, 'open' | 'done'>();
  for (const first of jobs) {
    const way: { job: Job; left: string[] }[] = [];
    const enter = (job: Job): void => {
      state.set(job.group, 'open');
      way.push({ job, left: neededBy(job).map((need) => need.job) });
    };
    if (!state.has(first.group)) enter(first);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const name = top.left.pop();
      const next = name === undefined ? undefined : named.get(name);
      if (name === undefined) state.set(way.pop()?.job.group ?? '', 'done');
      else if (next !== undefined && state.get(next.group) === 'open') {
        problems.error('The pipeline has circular dependencies', top.job.place);
      } else if (next !== undefined && !state.has(next.group)) enter(next);
    }
  }
};

const stopProblem = (job: Job, stop: Job | undefined): string | null => {
  if (stop === undefined) return 'is not defined';
  if (stop.environment === null) return 'does not have environment defined';
  if (stop.environment.name !== job.environment?.name) return 'have different environment name';
  return stop.environment.action === 'stop' ? null : 'needs to have action stop defined';
};

const checkStop = ({ problems, named }: Told, job: Job): void => {
  const name = job.environment?.on_stop ?? null;
  const problem = name === null ? null : stopProblem(job, named.get(name));
  if (problem !== null) problems.error(`${job.group} job: on_stop job ${name} ${problem}`, job.place);
};

export const checkJobs = (told: Told): void => {
  let inStages = true;
  for (const job of told.jobs) {
    inStages = checkStage(told, job) && inStages;
    checkDependencies(told, job);
    checkNeeds(told, job);
    checkStop(told, job);
  }
  if (inStages) checkCycles(told);
};
