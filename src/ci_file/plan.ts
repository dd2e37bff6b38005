/** What a configuration makes of a pipeline: which jobs are in it, and how each of them runs. */
import { type Conditions, type Facts, type Work, factsFor, newWork } from './conditions.ts';
import { policiesHold, ruleHolds } from './decide.ts';
import { secondsOf } from './duration.ts';
import { type Values, expand, expandAll, expandKnown } from './expand.ts';
import { TooExpensive } from './expression/evaluate.ts';
import { type Limits, TooHeavy, makesTooMuch } from './limits.ts';
import { tooLarge } from './node.ts';
import type { AutoCancel, Config, Image, Job, Rule, Variable } from './plan_types.ts';

export type PlannedJob = Omit<Job, 'rules' | 'only' | 'except' | 'start_in'> & {
  /** Seconds; of a delayed one. */
  start_in: number | null;
  stage_position: number;
};

export type Plan = {
  name: string | null;
  auto_cancel: AutoCancel;
  /** Of the file, and of the workflow's rule: every job that takes them over has them already. */
  variables: Variable[];
  /** Those that have jobs, in their order. */
  stages: string[];
  jobs: PlannedJob[];
};

/** `workflow` and `rules`: nothing is to be done; `error`: the pipeline fails before it begins. */
export type Unplanned = { refused: 'workflow' | 'rules' | 'error'; text: string };

export type Planned = { plan: Plan } | { unplanned: Unplanned };

/** Of one pipeline. */
const mostJobs = 500;

const filteredOut = 'Pipeline filtered out by workflow rules.';
const noJobs =
  'Pipeline will not run for the selected trigger. ' +
  'The rules configuration prevented any jobs from being added to the pipeline.';

const asValues = (variables: readonly Variable[]): Record<string, string> =>
  Object.fromEntries(variables.map(({ key, value }) => [key, value]));

const mergedVariables = (...lists: (readonly Variable[])[]): Variable[] => [
  ...new Map(lists.flat().map((variable) => [variable.key, variable])).values(),
];

/** All that the rules of a configuration ask. */
export const askFacts = async (config: Config, conditions: Conditions): Promise<Facts> => {
  const ofPolicy = { changes: { compare_to: null }, exists: null };
  const policies = config.jobs.flatMap(({ only, except }) => [only, except]);
  return await factsFor(conditions, [
    ...(config.workflow.rules ?? []),
    ...config.jobs.flatMap(({ rules }) => rules ?? []),
    ...policies.flatMap((policy) => (policy === null || policy.changes === null ? [] : [ofPolicy])),
  ]);
};

/** Of putting together one value that rules may look at, beside what patterns take. */
const stepsOfValue = 300;

type Planning = { config: Config; conditions: Conditions; facts: Facts; work: Work };

/** Values by which rules decide: those of the file stand between what the service and what people say. */
const valuesFor = ({ conditions, work }: Planning, own: readonly Variable[], job: Values = {}): Values => {
  const { predefined, variables } = conditions;
  const raw = new Set(own.filter((variable) => variable.raw).map(({ key }) => key));
  for (const name of Object.keys(variables)) raw.add(name);
  const values = { ...predefined, ...job, ...asValues(own), ...variables };
  work.left -= Object.keys(values).length * stepsOfValue;
  if (work.left < 0) throw new TooExpensive();
  return expandAll(values, raw);
};

const jobValues = ({ name, stage, parallel }: Job): Values => ({
  CI_JOB_NAME: name,
  CI_JOB_STAGE: stage,
  ...(parallel !== null && {
    CI_NODE_INDEX: String(parallel.index),
    CI_NODE_TOTAL: String(parallel.total),
  }),
});

const inherited = ({ inherit_variables }: Job, shared: readonly Variable[]): readonly Variable[] => {
  if (typeof inherit_variables === 'boolean') return inherit_variables ? shared : [];
  return shared.filter(({ key }) => inherit_variables.includes(key));
};

type Decided = {
  when: Job['when'];
  allow_failure: boolean;
  allow_failure_exit_codes: number[];
  start_in: string | null;
  needs: Job['needs'];
  interruptible: boolean | null;
  variables: Variable[];
};

const byRule = (job: Job, variables: Variable[], rule: Rule): Decided | null => {
  const when = rule.when ?? job.when;
  if (when === 'never') return null;
  return {
    when,
    allow_failure: rule.allow_failure ?? job.allow_failure,
    allow_failure_exit_codes: rule.allow_failure === null ? job.allow_failure_exit_codes : [],
    start_in: rule.start_in ?? job.start_in,
    needs: rule.needs ?? job.needs,
    interruptible: rule.interruptible ?? job.interruptible,
    variables: mergedVariables(variables, rule.variables),
  };
};

/** null: it is not in the pipeline. */
const decide = (planning: Planning, job: Job, shared: readonly Variable[]): Decided | null => {
  const { conditions, facts, work } = planning;
  const variables = mergedVariables(inherited(job, shared), job.variables);
  const values = valuesFor(planning, variables, jobValues(job));
  const deciding = { facts, values, work };
  if (job.rules === null) return policiesHold(job, conditions, deciding) ? { ...job, variables } : null;
  const rule = job.rules.find((one) => ruleHolds(one, deciding));
  return rule === undefined ? null : byRule(job, variables, rule);
};

const expandImage = <I extends Image>(image: I, values: Values): I => ({
  ...image,
  name: expandKnown(image.name, values),
});

/** Only what the file and the service say: what people set may be secret, and stays for who runs the job. */
const shownValues = (values: Values, { variables }: Conditions): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !Object.hasOwn(variables, name)));

const plannedJob = (planning: Planning, job: Job, decided: Decided): PlannedJob => {
  const { rules: _rules, only: _only, except: _except, ...rest } = job;
  const values = valuesFor(planning, decided.variables, jobValues(job));
  const shown = shownValues(values, planning.conditions);
  const { environment, resource_group, image } = job;
  return {
    ...rest,
    ...decided,
    start_in: decided.when === 'delayed' && decided.start_in !== null ? secondsOf(decided.start_in) : null,
    stage_position: planning.config.stages.indexOf(job.stage),
    tags: job.tags.map((tag) => expand(tag, values)).filter((tag) => tag !== ''),
    image: image === null ? null : expandImage(image, shown),
    services: job.services.map((service) => expandImage(service, shown)),
    resource_group: resource_group === null ? null : expand(resource_group, values),
    environment:
      environment === null
        ? null
        : {
            ...environment,
            name: expand(environment.name, values),
            auto_stop_in: environment.auto_stop_in === null ? null : expand(environment.auto_stop_in, values),
            url: environment.url === null ? null : expandKnown(environment.url, shown),
          },
  };
};

const notThere =
  'does not exist in the pipeline. This might be because of the only, except, or rules keywords. ' +
  'To need a job that sometimes does not exist in the pipeline, use needs:optional.';

const needsProblem = (job: PlannedJob, names: ReadonlySet<string>): string | null => {
  const missing = job.needs?.find((need) => !need.optional && !names.has(need.job));
  if (missing === undefined) return null;
  return `'${job.name}' job needs '${missing.job}' job, but '${missing.job}' ${notThere}`;
};

const longestName = 255;

/** Names that were short as long as nothing was put into them. */
const longProblem = ({ name, environment, resource_group }: PlannedJob): string | null => {
  const isLong = (text: string | null | undefined): boolean => (text?.length ?? 0) > longestName;
  const what = isLong(environment?.name) ? 'environment' : isLong(resource_group) ? 'resource_group' : null;
  return what === null ? null : `'${name}' job: ${what} is too long (maximum is ${longestName} characters)`;
};

const withoutMissing = (job: PlannedJob, names: ReadonlySet<string>): PlannedJob => ({
  ...job,
  needs: job.needs?.filter((need) => names.has(need.job)) ?? null,
  dependencies: job.dependencies?.filter((name) => names.has(name)) ?? null,
});

const isEdge = ({ stage }: PlannedJob): boolean => stage === '.pre' || stage === '.post';

const refuse = (refused: Unplanned['refused'], text: string): Planned => ({ unplanned: { refused, text } });

const jobsOf = (planning: Planning, shared: readonly Variable[]): PlannedJob[] => {
  const jobs = planning.config.jobs.flatMap((job) => {
    const decided = decide(planning, job, shared);
    return decided === null ? [] : [plannedJob(planning, job, decided)];
  });
  // By stage, and within one in the order of the file.
  return jobs.toSorted((a, b) => a.stage_position - b.stage_position);
};

const problemOf = (jobs: readonly PlannedJob[], names: ReadonlySet<string>): Planned | null => {
  if (jobs.every(isEdge)) return refuse('rules', noJobs);
  if (jobs.length > mostJobs) {
    return refuse('error', `The number of jobs has exceeded the limit of ${mostJobs}.`);
  }
  const problem = jobs
    .map((job) => needsProblem(job, names) ?? longProblem(job))
    .find((text) => text !== null);
  return problem === undefined ? null : refuse('error', problem);
};

type Shared = { variables: Variable[]; auto_cancel: AutoCancel | null };

/** What the workflow's first rule that holds adds; null: there is to be no pipeline. */
const workflowOf = (planning: Planning): Shared | null => {
  const { workflow, variables } = planning.config;
  if (workflow.rules === null) return { variables, auto_cancel: null };
  const values = valuesFor(planning, variables);
  const { facts, work } = planning;
  const rule = workflow.rules.find((one) => ruleHolds(one, { facts, values, work }));
  if (rule === undefined || rule.when === 'never') return null;
  return { variables: mergedVariables(variables, rule.variables), auto_cancel: rule.auto_cancel };
};

/**
 * The same answer for the same arguments. `facts` are what `askFacts` found.
 * @throws TooHeavy past brief limits
 */
export const plan = (config: Config, conditions: Conditions, facts: Facts, limits: Limits): Planned => {
  try {
    const made = planned({ config, conditions, facts, work: newWork(limits) });
    if (!('plan' in made) || !makesTooMuch(made.plan.jobs, limits)) return made;
    if (limits.isBrief) throw new TooHeavy();
    return refuse('error', tooLarge);
  } catch (error) {
    if (!(error instanceof TooExpensive)) throw error;
    if (limits.isBrief) throw new TooHeavy();
    return refuse('error', 'The rules take too long to evaluate.');
  }
};

const planned = (planning: Planning): Planned => {
  const { config } = planning;
  const shared = workflowOf(planning);
  if (shared === null) return refuse('workflow', filteredOut);
  const jobs = jobsOf(planning, shared.variables);
  const names = new Set(jobs.map(({ name }) => name));
  const problem = problemOf(jobs, names);
  if (problem !== null) return problem;
  const { workflow, stages } = config;
  const name = workflow.name === null ? null : expand(workflow.name, valuesFor(planning, shared.variables));
  return {
    plan: {
      name: name === null || name.trim() === '' ? null : name.trim().slice(0, 255),
      auto_cancel: {
        on_new_commit: shared.auto_cancel?.on_new_commit ?? workflow.auto_cancel?.on_new_commit ?? null,
        on_job_failure: shared.auto_cancel?.on_job_failure ?? workflow.auto_cancel?.on_job_failure ?? null,
      },
      variables: shared.variables,
      stages: stages.filter((stage) => jobs.some((job) => job.stage === stage)),
      jobs: jobs.map((job) => withoutMissing(job, names)),
    },
  };
};
