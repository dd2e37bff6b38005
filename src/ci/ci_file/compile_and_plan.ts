/** Compiles a configuration and, as requested, plans the pipeline and renders the merged YAML. */
import { type Source, compile } from './compile.ts';
import { TooHeavy, exceedsOutputLimit } from './syntax/limits.ts';
import { toMergedYaml } from './syntax/merged_yaml.ts';
import { tooLarge } from './syntax/node.ts';
import { type PlannedJob, type Planned, loadRuleFacts, plan } from './plan.ts';
import type { Compiled, Config, Included, Variable } from './config_types.ts';
import type { Problem } from './syntax/problems.ts';

export type ReadOptions = {
  /** `plan`: the jobs that rules select; `all`: every job of the file. */
  jobs: 'plan' | 'all';
  merged: boolean;
};

export type CompiledPlan = {
  errors: Problem[];
  warnings: Problem[];
  includes: Included[];
  merged_yaml: string | null;
  /** null if there are errors, or `all` was requested. */
  planned: Planned | null;
  /** All jobs, regardless of rules. */
  all: PlannedJob[];
  /** Global variables, with the descriptions for the form that runs a pipeline. */
  variables: Variable[];
};

const listAllJobs = ({ jobs, stages }: Config): PlannedJob[] =>
  jobs.map(({ rules: _rules, only: _only, except: _except, ...job }) => ({
    ...job,
    start_in: null,
    stage_position: stages.indexOf(job.stage),
  }));

const tooLargeProblem: Problem = { text: tooLarge, old_text: tooLarge, position: null };

const planJobs = async (source: Source, { config, errors }: Compiled, { jobs }: ReadOptions) => {
  const empty = { planned: null, all: [], errors };
  if (config === null) return empty;
  const { conditions, limits } = source;
  if (jobs === 'plan') {
    const planned = plan(config, conditions, await loadRuleFacts(config, conditions), limits);
    return { ...empty, planned };
  }
  const allJobs = listAllJobs(config);
  if (!exceedsOutputLimit(allJobs, limits)) return { ...empty, all: allJobs };
  if (limits.isBrief) throw new TooHeavy();
  return { ...empty, errors: [tooLargeProblem] };
};

/** @throws TooHeavy if the limits are brief and it exceeds them */
export const compileAndPlan = async (source: Source, options: ReadOptions): Promise<CompiledPlan> => {
  const compiled = await compile(source);
  const { warnings, includes, root } = compiled;
  const merged_yaml = options.merged && root !== null ? toMergedYaml(root) : null;
  const variables = compiled.config?.variables ?? [];
  return { warnings, includes, merged_yaml, variables, ...(await planJobs(source, compiled, options)) };
};
