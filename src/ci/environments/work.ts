/** Background work of environments. Every step is idempotent. */
import type { Platform } from '../../core/platform.ts';
import { type Values, expandKnownVariables } from '../ci_file/syntax/expand_variables.ts';
import type { Store } from '../../platform/db/open.ts';
import { type WorkHandler, enqueue } from '../../platform/queue/enqueue.ts';
import { unsealValue } from '../variables/queries.ts';
import { expandEnvironmentUrl, parseJobEnvironment } from './job_environment.ts';
import { linkDeployment } from './deployments/link_merge_requests.ts';
import { isHttpUrl } from './rules.ts';
import { type JobRunner, stopWhenExpired } from './stop_environment.ts';
import { linkWork, stopWork, urlWork } from './work_names.ts';

/** Loads the variables of a job's dotenv report. */
const loadDotenvVariables = async (platform: Platform, jobId: number): Promise<Values> => {
  const rows = await platform.store.db
    .selectFrom('job_variables')
    .select(['key', 'sealed_value'])
    .where('job_id', '=', jobId)
    .where('source', '=', 'dotenv')
    .execute();
  return Object.fromEntries(rows.map(({ key, sealed_value }) => [key, unsealValue(platform, sealed_value)]));
};

type PlayFunctions = Pick<JobRunner, 'play' | 'mayRun'>;

const stopIfDue = async (store: Store, id: number, jobs: PlayFunctions): Promise<void> => {
  await store.write(async (tx) => {
    const row = await tx.db
      .selectFrom('environments')
      .selectAll()
      .where('id', '=', id)
      .where('state', '=', 'available')
      .executeTakeFirst();
    if (row === undefined || row.auto_stop_at === null) return;
    if (row.auto_stop_at > tx.now) {
      const options = { unique_key: `${stopWork}:${id}`, run_at: row.auto_stop_at };
      await enqueue(tx, stopWork, { environment_id: id }, options);
      return;
    }
    await stopWhenExpired(tx, row, jobs);
  });
};

const updateUrl = async (
  platform: Platform,
  { environment_id, job_id }: { environment_id: number; job_id: number },
): Promise<void> => {
  const { store } = platform;
  const job = await store.db
    .selectFrom('jobs')
    .innerJoin('job_configs', 'job_configs.id', 'jobs.config_id')
    .select('job_configs.config')
    .where('jobs.id', '=', job_id)
    .executeTakeFirst();
  const environment = job === undefined ? null : parseJobEnvironment(job.config);
  const url = environment === null ? null : expandEnvironmentUrl(environment);
  if (url === null) return;
  const external_url = expandKnownVariables(url, await loadDotenvVariables(platform, job_id));
  if (external_url.includes('$') || !isHttpUrl(external_url)) return;
  await store.write(
    async ({ db, now }) =>
      await db
        .updateTable('environments')
        .set({ external_url, updated_at: now })
        .where('id', '=', environment_id)
        .execute(),
  );
};

/** @param jobs functions that play jobs, passed in because of the import order */
export const environmentWork = (
  platform: Platform,
  jobs: PlayFunctions,
): { [name: string]: WorkHandler } => ({
  [stopWork]: async ({ environment_id }) => await stopIfDue(platform.store, Number(environment_id), jobs),
  [linkWork]: async ({ deployment_id }) => await linkDeployment(platform, Number(deployment_id)),
  [urlWork]: async ({ environment_id, job_id }) =>
    await updateUrl(platform, { environment_id: Number(environment_id), job_id: Number(job_id) }),
});
