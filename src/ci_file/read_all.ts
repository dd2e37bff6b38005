/** All that is made of a configuration, in one go: it is compiled, decided upon, and shown, as far as somebody wants it. */
import { type Source, compile } from './compile.ts';
import { TooHeavy, makesTooMuch } from './limits.ts';
import { mergedYaml } from './merged.ts';
import { tooLarge } from './node.ts';
import { type PlannedJob, type Planned, askFacts, plan } from './plan.ts';
import type { Compiled, Config, Included, Variable } from './plan_types.ts';
import type { Problem } from './problem.ts';

export type Wish = {
  /** `plan`: what is in a pipeline, as the rules have it; `all`: every job of the file. */
  jobs: 'plan' | 'all';
  merged: boolean;
};

export type ReadAll = {
  errors: Problem[];
  warnings: Problem[];
  includes: Included[];
  merged_yaml: string | null;
  /** null: there are errors, or nobody wished for it. */
  planned: Planned | null;
  /** Whether or not the rules let them in. */
  all: PlannedJob[];
  /** Of the whole file, with what it says of them to those who run a pipeline by hand. */
  variables: Variable[];
};

const allJobs = ({ jobs, stages }: Config): PlannedJob[] =>
  jobs.map(({ rules: _rules, only: _only, except: _except, ...job }) => ({
    ...job,
    start_in: null,
    stage_position: stages.indexOf(job.stage),
  }));

const tooMuch: Problem = { text: tooLarge, old_text: tooLarge, place: null };

const readJobs = async (source: Source, { config, errors }: Compiled, { jobs }: Wish) => {
  const nothing = { planned: null, all: [], errors };
  if (config === null) return nothing;
  const { conditions, limits } = source;
  if (jobs === 'plan') {
    const planned = plan(config, conditions, await askFacts(config, conditions), limits);
    return { ...nothing, planned };
  }
  const all = allJobs(config);
  if (!makesTooMuch(all, limits)) return { ...nothing, all };
  if (limits.isBrief) throw new TooHeavy();
  return { ...nothing, errors: [tooMuch] };
};

/** @throws TooHeavy past brief limits */
export const readAll = async (source: Source, wish: Wish): Promise<ReadAll> => {
  const compiled = await compile(source);
  const { warnings, includes, root } = compiled;
  const merged_yaml = wish.merged && root !== null ? mergedYaml(root) : null;
  const variables = compiled.config?.variables ?? [];
  return { warnings, includes, merged_yaml, variables, ...(await readJobs(source, compiled, wish)) };
};
