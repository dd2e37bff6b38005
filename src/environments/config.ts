/** What the stored configuration of a job says of its environment. */
import { expandKnown } from '../ci_file/expand.ts';
import type { Environment } from '../ci_file/plan_types.ts';
import { environmentSlug } from './slug.ts';

export type { Environment };

/** @param config JSON of `job_configs`; null: it has no environment */
export const environmentOfJob = (config: string): Environment | null =>
  (JSON.parse(config) as { environment?: Environment | null }).environment ?? null;

/** The address with what the service itself knows put in; what only the job knows stays. */
export const addressOf = ({ url, name }: Pick<Environment, 'url' | 'name'>): string | null =>
  url === null
    ? null
    : expandKnown(url, { CI_ENVIRONMENT_SLUG: environmentSlug(name), CI_ENVIRONMENT_NAME: name });
