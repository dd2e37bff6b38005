/** Reads the environment from a job's stored configuration. */
import { expandKnownVariables } from '../ci_file/syntax/expand_variables.ts';
import type { Environment } from '../ci_file/config_types.ts';
import { toEnvironmentSlug } from './slug_and_tier.ts';

export type { Environment };

/**
 * Parses the environment; null if the job has none.
 * @param config JSON of `job_configs`
 */
export const parseJobEnvironment = (config: string): Environment | null =>
  (JSON.parse(config) as { environment?: Environment | null }).environment ?? null;

/** Expands the variables that the service knows in the URL. Variables that only the job knows stay. */
export const expandEnvironmentUrl = ({ url, name }: Pick<Environment, 'url' | 'name'>): string | null =>
  url === null
    ? null
    : expandKnownVariables(url, { CI_ENVIRONMENT_SLUG: toEnvironmentSlug(name), CI_ENVIRONMENT_NAME: name });
