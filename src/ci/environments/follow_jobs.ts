/** Updates environments and deployments when their jobs start and end. */
import { collectDeployment } from '../../core/events/collect_statuses.ts';
import type { Selectable } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import type { JobsTable } from '../../platform/db/schema/ci.ts';
import { parseDuration } from '../ci_file/keywords/duration.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import { type Environment, expandEnvironmentUrl, parseJobEnvironment } from './job_environment.ts';
import { enqueueLinks } from './deployments/link_merge_requests.ts';
import { type EnvironmentRow, ensureEnvironment, insertDeployment } from './queries.ts';
import { isHttpUrl } from './rules.ts';
import { type Tier, tiers } from './slug_and_tier.ts';
import { stopWork, urlWork } from './work_names.ts';

export type FollowedJob = Pick<
  Selectable<JobsTable>,
  'id' | 'project_id' | 'pipeline_id' | 'config_id' | 'environment' | 'user_id' | 'ref' | 'tag' | 'status'
>;

const loadEnvironmentConfig = async (tx: Tx, { config_id }: FollowedJob): Promise<Environment | null> => {
  const row = await tx.db
    .selectFrom('job_configs')
    .select('config')
    .where('id', '=', config_id)
    .executeTakeFirst();
  return row === undefined ? null : parseJobEnvironment(row.config);
};

const parseTier = ({ deployment_tier }: Environment): Tier | undefined =>
  tiers.find((tier) => tier === deployment_tier);

const ensureJobEnvironment = async (tx: Tx, job: FollowedJob, config: Environment): Promise<EnvironmentRow> =>
  await ensureEnvironment(tx, job.project_id, {
    name: job.environment ?? config.name,
    tier: parseTier(config),
  });

const findDeploymentOfJob = async (tx: Tx, job: FollowedJob) =>
  await tx.db
    .selectFrom('deployments')
    .select(['id', 'environment_id'])
    .where('job_id', '=', job.id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

const updateDeploymentStatus = async (
  tx: Tx,
  id: number,
  status: 'running' | 'success' | 'failed' | 'canceled',
): Promise<void> => {
  const finished_at = status === 'running' ? null : tx.now;
  const changed = { status, finished_at, updated_at: tx.now };
  const query = tx.db.updateTable('deployments').set(changed).where('id', '=', id);
  const deployment = await query.returning(['id', 'project_id']).executeTakeFirst();
  if (deployment !== undefined) collectDeployment(tx, deployment);
};

const loadSha = async (tx: Tx, { pipeline_id }: FollowedJob): Promise<string> =>
  (await tx.db.selectFrom('pipelines').select('sha').where('id', '=', pipeline_id).executeTakeFirstOrThrow())
    .sha;

/** Handles the start of a job: creates or restarts its deployment. Does nothing for jobs without an environment. */
export const handleJobStart = async (tx: Tx, job: FollowedJob): Promise<void> => {
  const config = job.environment === null ? null : await loadEnvironmentConfig(tx, job);
  if (config === null || config.action === 'stop') return;
  const environment = await ensureJobEnvironment(tx, job, config);
  if (config.action !== 'start') return;
  const existing = await findDeploymentOfJob(tx, job);
  if (existing !== undefined) {
    await updateDeploymentStatus(tx, existing.id, 'running');
    return;
  }
  const { id: job_id, project_id, user_id, ref, tag } = job;
  const revision = { ref, tag, sha: await loadSha(tx, job), status: 'running' as const };
  const place = { project_id, environment_id: environment.id, job_id, user_id };
  collectDeployment(tx, await insertDeployment(tx, { ...place, ...revision }));
};

/** Computes the time of the automatic stop from `auto_stop_in`; undefined if it is not set. */
const computeStopTime = (tx: Tx, { auto_stop_in }: Environment): number | undefined => {
  const seconds = auto_stop_in === null ? null : parseDuration(auto_stop_in);
  return seconds === null || seconds === 0 ? undefined : tx.now + seconds * 1_000;
};

const enqueueStop = async (tx: Tx, environment: EnvironmentRow, at: number): Promise<void> => {
  await enqueue(
    tx,
    stopWork,
    { environment_id: environment.id },
    { unique_key: `${stopWork}:${environment.id}`, run_at: at },
  );
};

/** Marks the environment as available after a successful deployment, and updates its URL and tier. */
const markDeployed = async (tx: Tx, job: FollowedJob, config: Environment): Promise<void> => {
  const environment = await ensureJobEnvironment(tx, job, config);
  const url = expandEnvironmentUrl(config);
  const at = computeStopTime(tx, config);
  const tier = parseTier(config);
  const changed = {
    state: 'available' as const,
    updated_at: tx.now,
    auto_stop_at: at ?? null,
    ...(url !== null && isHttpUrl(url) && !url.includes('$') && { external_url: url }),
    ...(tier !== undefined && { tier }),
  };
  await tx.db.updateTable('environments').set(changed).where('id', '=', environment.id).execute();
  if (at !== undefined) await enqueueStop(tx, environment, at);
  if (url?.includes('$') === true)
    await enqueue(tx, urlWork, { environment_id: environment.id, job_id: job.id });
};

const finishStopJob = async (tx: Tx, job: FollowedJob): Promise<void> => {
  const isSuccess = job.status === 'success';
  const changed = isSuccess
    ? { state: 'stopped' as const, auto_stop_at: null, updated_at: tx.now }
    : { state: 'available' as const, updated_at: tx.now };
  let query = tx.db
    .updateTable('environments')
    .set(changed)
    .where('project_id', '=', job.project_id)
    .where('name', '=', job.environment ?? '');
  if (!isSuccess) query = query.where('state', '=', 'stopping');
  await query.execute();
};

const finalStatuses = { success: 'success', failed: 'failed', canceled: 'canceled' } as const;

/** Handles the end of a job in any status. Does nothing for jobs without an environment. */
export const handleJobEnd = async (tx: Tx, job: FollowedJob): Promise<void> => {
  const config = job.environment === null ? null : await loadEnvironmentConfig(tx, job);
  if (config === null || !Object.hasOwn(finalStatuses, job.status)) return;
  if (config.action === 'stop') {
    await finishStopJob(tx, job);
    return;
  }
  if (config.action === 'start') {
    const existing = await findDeploymentOfJob(tx, job);
    if (existing === undefined) return;
    await updateDeploymentStatus(tx, existing.id, finalStatuses[job.status as keyof typeof finalStatuses]);
    if (job.status !== 'success') return;
    await enqueueLinks(tx, existing.id);
    await markDeployed(tx, job, config);
    return;
  }
  const at = computeStopTime(tx, config);
  if (job.status !== 'success' || at === undefined) return;
  const environment = await ensureJobEnvironment(tx, job, config);
  await tx.db
    .updateTable('environments')
    .set({ auto_stop_at: at, updated_at: tx.now })
    .where('id', '=', environment.id)
    .execute();
  await enqueueStop(tx, environment, at);
};
