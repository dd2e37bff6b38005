/** The variables that a job gives to the pipeline that it starts. */
import type { Platform } from '../access/call.ts';
import { type Values, expand, expandAll } from '../ci_file/expand.ts';
import type { Trigger } from '../ci_file/plan_types.ts';
import { type GivenVariable, givenTo } from './given_variables.ts';
import type { JobVariable } from './job_predefined.ts';
import { variablesOfJob } from './job_variables.ts';
import type { Job, JobConfig } from './store.ts';

/** Where nobody has said where this service is found. */
const nowhere = 'http://localhost';

/** What only a job that runs has. */
const ofRun = new Set(['CI_JOB_TOKEN', 'CI_BUILD_TOKEN', 'CI_REPOSITORY_URL']);

/** What texts may name of the variables of a job. */
export const namedIn = (all: readonly JobVariable[]): Values => {
  const named = all.filter(({ key, file }) => !file && !ofRun.has(key));
  const raw = new Set(named.filter((variable) => variable.raw).map(({ key }) => key));
  return expandAll(Object.fromEntries(named.map(({ key, value }) => [key, value])), raw);
};

/** Everything that the job's own texts may name. */
export const bridgeValues = async (platform: Platform, { id }: Job): Promise<Values> => {
  const base_url = platform.config.external_url ?? nowhere;
  return namedIn(await variablesOfJob(platform, id, { base_url, token: '' }));
};

/** Those of the file, and of its own pipeline, as far as the job passes them on; of one key, the latter's. */
export const passedOn = async (
  platform: Platform,
  { pipeline_id }: Job,
  { config, trigger, values }: { config: JobConfig; trigger: Trigger; values: Values },
): Promise<GivenVariable[]> => {
  const { yaml_variables, pipeline_variables } = trigger.forward;
  // Nothing in a value is expanded twice: what a secret holds stays as it is.
  const ofFile = config.variables.map(({ key, value, raw }): GivenVariable => ({
    key,
    value: raw ? value : expand(value, values),
    variable_type: 'env_var',
    raw: true,
  }));
  const given = pipeline_variables ? await givenTo(platform, platform.store.db, pipeline_id) : [];
  const all = [...(yaml_variables ? ofFile : []), ...given];
  return [...new Map(all.map((variable) => [variable.key, variable])).values()];
};
