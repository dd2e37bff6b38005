/** Plans a pipeline: selects the jobs by rules and expands their variables. */
import { type Conditions, type Facts, type Budget, collectFacts, newBudget } from './conditions.ts';
import { matchesPolicies, matchesRule } from './evaluate_rules.ts';
import { parseDuration } from './keywords/duration.ts';
import { type Values, expandVariables, expandAll, expandKnownVariables } from './syntax/expand_variables.ts';
import { TooExpensive } from './expression/evaluate.ts';
import { type Limits, TooHeavy, exceedsOutputLimit } from './syntax/limits.ts';
import { tooLarge } from './syntax/node.ts';
import type { AutoCancel, Config, Image, Job, Rule, Variable } from './config_types.ts';

export type PlannedJob = Omit<Job, 'rules' | 'only' | 'except' | 'start_in'> & {
  /** Seconds; for a delayed job. */
  start_in: number | null;
  stage_position: number;
};

export type Plan = {
  name: string | null;
  auto_cancel: AutoCancel;
  /** Variables of the file and of the workflow's rule. Jobs that inherit them already contain them. */
  variables: Variable[];
  /** Stages that have jobs, in order. */
  stages: string[];
  jobs: PlannedJob[];
};

/** `workflow` and `rules`: no pipeline is created; `error`: the pipeline fails before it starts. */
export type Unplanned = { refused: 'workflow' | 'rules' | 'error'; text: string };

export type Planned = { plan: Plan } | { unplanned: Unplanned };

/** Most jobs of one pipeline. */
const maxJobs = 500;

const filteredOutText = 'Pipeline filtered out by workflow rules.';
const noJobsText =
  'Pipeline will not run for the selected trigger. ' +
  'The rules configuration prevented any jobs from being added to the pipeline.';

const toValueMap = (variables: readonly Variable[]): Record<string, string> =>
  Object.fromEntries(variables.map(({ key, value }) => [key, value]));

const mergeVariables = (...lists: (readonly Variable[])[]): Variable[] => [
  ...new Map(lists.flat().map((variable) => [variable.key, variable])).values(),
];

/** Loads the facts that the configuration's rules need. */
export const loadRuleFacts = async (config: Config, conditions: Conditions): Promise<Facts> => {
  const policyFacts = { changes: { compare_to: null }, exists: null };
  const policies = config.jobs.flatMap(({ only, except }) => [only, except]);
  return await collectFacts(conditions, [
    ...(config.workflow.rules ?? []),
    ...config.jobs.flatMap(({ rules }) => rules ?? []),
    ...policies.flatMap((policy) => (policy === null || policy.changes === null ? [] : [policyFacts])),
  ]);
};

/** Budget steps charged per variable, in addition to those of patterns. */
const stepsPerValue = 300;

type PlanState = { config: Config; conditions: Conditions; facts: Facts; budget: Budget };

/** Returns the variables for rules and for the names of images, tags and environments. Precedence, lowest first: predefined, file, stored and user variables. */
const getVariableValues = (
  { conditions, budget }: PlanState,
  own: readonly Variable[],
  job: Values = {},
): Values => {
  const { predefined, variables } = conditions;
  const raw = new Set(own.filter((variable) => variable.raw).map(({ key }) => key));
  for (const name of Object.keys(variables)) raw.add(name);
  const values = { ...predefined, ...job, ...toValueMap(own), ...variables };
  budget.left -= Object.keys(values).length * stepsPerValue;
  if (budget.left < 0) throw new TooExpensive();
  return expandAll(values, raw);
};

const toJobValues = ({ name, stage, parallel }: Job): Values => ({
  CI_JOB_NAME: name,
  CI_JOB_STAGE: stage,
  ...(parallel !== null && {
    CI_NODE_INDEX: String(parallel.index),
    CI_NODE_TOTAL: String(parallel.total),
  }),
});

const selectInherited = ({ inherit_variables }: Job, shared: readonly Variable[]): readonly Variable[] => {
  if (typeof inherit_variables === 'boolean') return inherit_variables ? shared : [];
  return shared.filter(({ key }) => inherit_variables.includes(key));
};

type JobDecision = {
  when: Job['when'];
  allow_failure: boolean;
  allow_failure_exit_codes: number[];
  start_in: string | null;
  needs: Job['needs'];
  interruptible: boolean | null;
  variables: Variable[];
};

const applyRule = (job: Job, variables: Variable[], rule: Rule): JobDecision | null => {
  const when = rule.when ?? job.when;
  if (when === 'never') return null;
  return {
    when,
    allow_failure: rule.allow_failure ?? job.allow_failure,
    allow_failure_exit_codes: rule.allow_failure === null ? job.allow_failure_exit_codes : [],
    start_in: rule.start_in ?? job.start_in,
    needs: rule.needs ?? job.needs,
    interruptible: rule.interruptible ?? job.interruptible,
    variables: mergeVariables(variables, rule.variables),
  };
};

/** Evaluates a job's rules; null if the job is not in the pipeline. */
const decideJob = (state: PlanState, job: Job, shared: readonly Variable[]): JobDecision | null => {
  const { conditions, facts, budget } = state;
  const variables = mergeVariables(selectInherited(job, shared), job.variables);
  const values = getVariableValues(state, variables, toJobValues(job));
  const context = { facts, values, budget };
  if (job.rules === null) return matchesPolicies(job, conditions, context) ? { ...job, variables } : null;
  const rule = job.rules.find((one) => matchesRule(one, context));
  return rule === undefined ? null : applyRule(job, variables, rule);
};

const expandImage = <I extends Image>(image: I, values: Values): I => ({
  ...image,
  name: expandKnownVariables(image.name, values),
});

/** Removes stored and user variables, which may be secret. The runner expands them. */
const withoutUserVariables = (values: Values, { variables }: Conditions): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !Object.hasOwn(variables, name)));

const toPlannedJob = (state: PlanState, job: Job, decision: JobDecision): PlannedJob => {
  const { rules: _rules, only: _only, except: _except, ...rest } = job;
  const values = getVariableValues(state, decision.variables, toJobValues(job));
  const safeValues = withoutUserVariables(values, state.conditions);
  const { environment, resource_group, image } = job;
  return {
    ...rest,
    ...decision,
    start_in:
      decision.when === 'delayed' && decision.start_in !== null ? parseDuration(decision.start_in) : null,
    stage_position: state.config.stages.indexOf(job.stage),
    tags: job.tags.map((tag) => expandVariables(tag, values)).filter((tag) => tag !== ''),
    image: image === null ? null : expandImage(image, safeValues),
    services: job.services.map((service) => expandImage(service, safeValues)),
    resource_group: resource_group === null ? null : expandVariables(resource_group, values),
    environment:
      environment === null
        ? null
        : {
            ...environment,
            name: expandVariables(environment.name, values),
            auto_stop_in:
              environment.auto_stop_in === null ? null : expandVariables(environment.auto_stop_in, values),
            url: environment.url === null ? null : expandKnownVariables(environment.url, safeValues),
          },
  };
};

const missingNeedText =
  'does not exist in the pipeline. This might be because of the only, except, or rules keywords. ' +
  'To need a job that sometimes does not exist in the pipeline, use needs:optional.';

const findNeedsProblem = (job: PlannedJob, names: ReadonlySet<string>): string | null => {
  const missing = job.needs?.find((need) => !need.optional && !names.has(need.job));
  if (missing === undefined) return null;
  return `'${job.name}' job needs '${missing.job}' job, but '${missing.job}' ${missingNeedText}`;
};

const maxNameLength = 255;

/** Finds a name that is too long after its variables are expanded. */
const findLengthProblem = ({ name, environment, resource_group }: PlannedJob): string | null => {
  const isLong = (text: string | null | undefined): boolean => (text?.length ?? 0) > maxNameLength;
  const what = isLong(environment?.name) ? 'environment' : isLong(resource_group) ? 'resource_group' : null;
  return what === null ? null : `'${name}' job: ${what} is too long (maximum is ${maxNameLength} characters)`;
};

const removeMissingNeeds = (job: PlannedJob, names: ReadonlySet<string>): PlannedJob => ({
  ...job,
  needs: job.needs?.filter((need) => names.has(need.job)) ?? null,
  dependencies: job.dependencies?.filter((name) => names.has(name)) ?? null,
});

const isEdgeStage = ({ stage }: PlannedJob): boolean => stage === '.pre' || stage === '.post';

const refuse = (refused: Unplanned['refused'], text: string): Planned => ({ unplanned: { refused, text } });

const planJobs = (state: PlanState, shared: readonly Variable[]): PlannedJob[] => {
  const jobs = state.config.jobs.flatMap((job) => {
    const decision = decideJob(state, job, shared);
    return decision === null ? [] : [toPlannedJob(state, job, decision)];
  });
  // Ordered by stage, then as in the file.
  return jobs.toSorted((a, b) => a.stage_position - b.stage_position);
};

const findProblem = (jobs: readonly PlannedJob[], names: ReadonlySet<string>): Planned | null => {
  if (jobs.every(isEdgeStage)) return refuse('rules', noJobsText);
  if (jobs.length > maxJobs) {
    return refuse('error', `The number of jobs has exceeded the limit of ${maxJobs}.`);
  }
  const problem = jobs
    .map((job) => findNeedsProblem(job, names) ?? findLengthProblem(job))
    .find((text) => text !== null);
  return problem === undefined ? null : refuse('error', problem);
};

type WorkflowResult = { variables: Variable[]; auto_cancel: AutoCancel | null };

/** Evaluates the workflow's rules and returns what the matching rule adds; null if there is no pipeline. */
const evaluateWorkflow = (state: PlanState): WorkflowResult | null => {
  const { workflow, variables } = state.config;
  if (workflow.rules === null) return { variables, auto_cancel: null };
  const values = getVariableValues(state, variables);
  const { facts, budget } = state;
  const rule = workflow.rules.find((one) => matchesRule(one, { facts, values, budget }));
  if (rule === undefined || rule.when === 'never') return null;
  return { variables: mergeVariables(variables, rule.variables), auto_cancel: rule.auto_cancel };
};

/**
 * Plans a pipeline. Deterministic. `facts` are the result of `loadRuleFacts`.
 * @throws TooHeavy if the limits are brief and it exceeds them
 */
export const plan = (config: Config, conditions: Conditions, facts: Facts, limits: Limits): Planned => {
  try {
    const result = planPipeline({ config, conditions, facts, budget: newBudget(limits) });
    if (!('plan' in result) || !exceedsOutputLimit(result.plan.jobs, limits)) return result;
    if (limits.isBrief) throw new TooHeavy();
    return refuse('error', tooLarge);
  } catch (error) {
    if (!(error instanceof TooExpensive)) throw error;
    if (limits.isBrief) throw new TooHeavy();
    return refuse('error', 'The rules take too long to evaluate.');
  }
};

const planPipeline = (state: PlanState): Planned => {
  const { config } = state;
  const shared = evaluateWorkflow(state);
  if (shared === null) return refuse('workflow', filteredOutText);
  const jobs = planJobs(state, shared.variables);
  const names = new Set(jobs.map(({ name }) => name));
  const problem = findProblem(jobs, names);
  if (problem !== null) return problem;
  const { workflow, stages } = config;
  const name =
    workflow.name === null
      ? null
      : expandVariables(workflow.name, getVariableValues(state, shared.variables));
  return {
    plan: {
      name: name === null || name.trim() === '' ? null : name.trim().slice(0, 255),
      auto_cancel: {
        on_new_commit: shared.auto_cancel?.on_new_commit ?? workflow.auto_cancel?.on_new_commit ?? null,
        on_job_failure: shared.auto_cancel?.on_job_failure ?? workflow.auto_cancel?.on_job_failure ?? null,
      },
      variables: shared.variables,
      stages: stages.filter((stage) => jobs.some((job) => job.stage === stage)),
      jobs: jobs.map((job) => removeMissingNeeds(job, names)),
    },
  };
};
