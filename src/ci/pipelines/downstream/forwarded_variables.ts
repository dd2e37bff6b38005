/** Collects the variables that a trigger job passes to its downstream pipeline. */
import type { Platform } from '../../../core/platform.ts';
import { type Values, expandVariables, expandAll } from '../../ci_file/syntax/expand_variables.ts';
import type { Trigger } from '../../ci_file/config_types.ts';
import { type PipelineVariable, loadPipelineVariables } from '../creation/pipeline_variables.ts';
import type { JobVariable } from '../predefined_variables/job_variable.ts';
import { loadVariablesOfJob } from '../predefined_variables/job_variables.ts';
import type { Job, JobConfig } from '../pipeline_rows.ts';

/** Base URL of instances without a configured external URL. */
const defaultBaseUrl = 'http://localhost';

/** Variables that only a running job has. */
const runtimeOnlyKeys = new Set(['CI_JOB_TOKEN', 'CI_BUILD_TOKEN', 'CI_REPOSITORY_URL']);

/** Returns the job variables that may be expanded in texts: no files and no secrets of a running job. */
export const toExpandableValues = (variables: readonly JobVariable[]): Values => {
  const expandable = variables.filter(({ key, file }) => !file && !runtimeOnlyKeys.has(key));
  const raw = new Set(expandable.filter((variable) => variable.raw).map(({ key }) => key));
  return expandAll(Object.fromEntries(expandable.map(({ key, value }) => [key, value])), raw);
};

/** Loads the values that may be expanded in the job's own texts. */
export const loadBridgeValues = async (platform: Platform, { id }: Job): Promise<Values> => {
  const base_url = platform.config.external_url ?? defaultBaseUrl;
  return toExpandableValues(await loadVariablesOfJob(platform, id, { base_url, token: '' }));
};

/** Collects YAML and pipeline variables as `trigger: forward` says. Pipeline variables win. */
export const collectForwardedVariables = async (
  platform: Platform,
  { pipeline_id }: Job,
  { config, trigger, values }: { config: JobConfig; trigger: Trigger; values: Values },
): Promise<PipelineVariable[]> => {
  const { yaml_variables, pipeline_variables } = trigger.forward;
  // Values are expanded once: a `$` inside a secret is left unchanged.
  const yamlVariables = config.variables.map(({ key, value, raw }): PipelineVariable => ({
    key,
    value: raw ? value : expandVariables(value, values),
    variable_type: 'env_var',
    raw: true,
  }));
  const pipelineVariables = pipeline_variables
    ? await loadPipelineVariables(platform, platform.store.db, pipeline_id)
    : [];
  const variables = [...(yaml_variables ? yamlVariables : []), ...pipelineVariables];
  return [...new Map(variables.map((variable) => [variable.key, variable])).values()];
};
