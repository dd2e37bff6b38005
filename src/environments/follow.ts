/** What becomes of environments and deployments when jobs that name one start and end. */
import type { Selectable } from 'kysely';
import type { Tx } from '../db/open.ts';
import type { JobsTable } from '../db/schema_ci.ts';
import { secondsOf } from '../ci_file/duration.ts';
import { enqueue } from '../queue/queue.ts';
import { type Environment, addressOf, environmentOfJob } from './config.ts';
import { type EnvironmentRow, ensureEnvironment, insertDeployment } from './queries.ts';
import { isAddress } from './rules.ts';
import { type Tier, tiers } from './slug.ts';
import { stopWork, urlWork } from './work_names.ts';

export type FollowedJob = Pick<
  Selectable<JobsTable>,
  'id' | 'project_id' | 'pipeline_id' | 'config_id' | 'environment' | 'user_id' | 'ref' | 'tag' | 'status'
>;

const configOf = async (tx: Tx, { config_id }: FollowedJob): Promise<Environment | null> => {
  const row = await tx.db
    .selectFrom('job_configs')
    .select('config')
    .where('id', '=', config_id)
    .executeTakeFirst();
  return row === undefined ? null : environmentOfJob(row.config);
};

const tierIn = ({ deployment_tier }: Environment): Tier | undefined =>
  tiers.find((tier) => tier === deployment_tier);

const environmentOf = async (tx: Tx, job: FollowedJob, config: Environment): Promise<EnvironmentRow> =>
  await ensureEnvironment(tx, job.project_id, { name: job.environment ?? config.name, tier: tierIn(config) });

const deploymentOf = async (tx: Tx, job: FollowedJob) =>
  await tx.db
    .selectFrom('deployments')
    .select(['id', 'environment_id'])
    .where('job_id', '=', job.id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

const setDeployment = async (
  tx: Tx,
  id: number,
  status: 'running' | 'success' | 'failed' | 'canceled',
): Promise<void> => {
  const finished_at = status === 'running' ? null : tx.now;
  const changed = { status, finished_at, updated_at: tx.now };
  await tx.db.updateTable('deployments').set(changed).where('id', '=', id).execute();
};

const shaOf = async (tx: Tx, { pipeline_id }: FollowedJob): Promise<string> =>
  (await tx.db.selectFrom('pipelines').select('sha').where('id', '=', pipeline_id).executeTakeFirstOrThrow())
    .sha;

/** A job that runs now: what it deploys is a deployment that runs. For others it does nothing. */
export const jobStarted = async (tx: Tx, job: FollowedJob): Promise<void> => {
  const config = job.environment === null ? null : await configOf(tx, job);
  if (config === null || config.action === 'stop') return;
  const environment = await environmentOf(tx, job, config);
  if (config.action !== 'start') return;
  const known = await deploymentOf(tx, job);
  if (known !== undefined) {
    await setDeployment(tx, known.id, 'running');
    return;
  }
  const { id: job_id, project_id, user_id, ref, tag } = job;
  const what = { ref, tag, sha: await shaOf(tx, job), status: 'running' as const };
  await insertDeployment(tx, { project_id, environment_id: environment.id, job_id, user_id, ...what });
};

/** When it is to stop by itself, from now on; undefined: nothing is said of it. */
const stopAt = (tx: Tx, { auto_stop_in }: Environment): number | undefined => {
  const seconds = auto_stop_in === null ? null : secondsOf(auto_stop_in);
  return seconds === null || seconds === 0 ? undefined : tx.now + seconds * 1_000;
};

const keepUntil = async (tx: Tx, environment: EnvironmentRow, at: number): Promise<void> => {
  await enqueue(
    tx,
    stopWork,
    { environment_id: environment.id },
    { unique_key: `${stopWork}:${environment.id}`, run_at: at },
  );
};

/** What was deployed is there: its environment is up, at the address that the job says. */
const deployed = async (tx: Tx, job: FollowedJob, config: Environment): Promise<void> => {
  const environment = await environmentOf(tx, job, config);
  const url = addressOf(config);
  const at = stopAt(tx, config);
  const tier = tierIn(config);
  const changed = {
    state: 'available' as const,
    updated_at: tx.now,
    auto_stop_at: at ?? null,
    ...(url !== null && isAddress(url) && !url.includes('$') && { external_url: url }),
    ...(tier !== undefined && { tier }),
  };
  await tx.db.updateTable('environments').set(changed).where('id', '=', environment.id).execute();
  if (at !== undefined) await keepUntil(tx, environment, at);
  if (url?.includes('$') === true)
    await enqueue(tx, urlWork, { environment_id: environment.id, job_id: job.id });
};

const stopEnded = async (tx: Tx, job: FollowedJob): Promise<void> => {
  const isDone = job.status === 'success';
  const changed = isDone
    ? { state: 'stopped' as const, auto_stop_at: null, updated_at: tx.now }
    : { state: 'available' as const, updated_at: tx.now };
  let query = tx.db
    .updateTable('environments')
    .set(changed)
    .where('project_id', '=', job.project_id)
    .where('name', '=', job.environment ?? '');
  if (!isDone) query = query.where('state', '=', 'stopping');
  await query.execute();
};

const endings = { success: 'success', failed: 'failed', canceled: 'canceled' } as const;

/** A job that has ended, however it did. For one without an environment it does nothing. */
export const jobEnded = async (tx: Tx, job: FollowedJob): Promise<void> => {
  const config = job.environment === null ? null : await configOf(tx, job);
  if (config === null || !Object.hasOwn(endings, job.status)) return;
  if (config.action === 'stop') {
    await stopEnded(tx, job);
    return;
  }
  if (config.action === 'start') {
    const known = await deploymentOf(tx, job);
    if (known === undefined) return;
    await setDeployment(tx, known.id, endings[job.status as keyof typeof endings]);
    if (job.status === 'success') await deployed(tx, job, config);
    return;
  }
  const at = stopAt(tx, config);
  if (job.status !== 'success' || at === undefined) return;
  const environment = await environmentOf(tx, job, config);
  await tx.db
    .updateTable('environments')
    .set({ auto_stop_at: at, updated_at: tx.now })
    .where('id', '=', environment.id)
    .execute();
  await keepUntil(tx, environment, at);
};
