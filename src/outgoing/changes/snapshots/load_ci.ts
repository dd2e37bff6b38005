/** Loads pipelines, jobs, deployments and releases for snapshots. */
import { loadJobConfigs } from '../../../ci/pipelines/pipeline_rows.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { loadMergeRequestFacts } from './load_planning.ts';
import type { EnvironmentFacts, JobFacts, Records, RunnerFacts } from './snapshot.ts';

/** Most jobs of a pipeline that its payload lists. */
const maxJobs = 1_000;

const loadRunners = async ({ db, dialect }: Tx, jobs: readonly JobFacts[]): Promise<RunnerFacts[]> => {
  const ids = [...new Set(jobs.flatMap(({ runner_id }) => (runner_id === null ? [] : [runner_id])))];
  if (ids.length === 0) return [];
  return await db
    .selectFrom('runners')
    .select(['id', 'description', 'runner_type', 'active', 'tag_list'])
    .where(dialect.oneOf('id', ids))
    .execute();
};

const loadEnvironments = async (
  { db, dialect }: Tx,
  jobs: readonly JobFacts[],
): Promise<EnvironmentFacts[]> => {
  const [first] = jobs;
  const names = [...new Set(jobs.flatMap(({ environment }) => (environment === null ? [] : [environment])))];
  if (first === undefined || names.length === 0) return [];
  return await db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', first.project_id)
    .where(dialect.oneOf('name', names))
    .execute();
};

const loadArchives = async ({ db, dialect }: Tx, jobIds: number[]) => {
  const rows = await db
    .selectFrom('artifacts')
    .select(['job_id', 'filename', 'size'])
    .where('file_type', '=', 'archive')
    .where(dialect.oneOf('job_id', jobIds))
    .execute();
  return new Map(rows.map(({ job_id, filename, size }) => [job_id, { filename, size }]));
};

const loadJobs = async (tx: Tx, where: { id: number } | { pipeline_id: number }): Promise<JobFacts[]> => {
  const query = tx.db.selectFrom('jobs').selectAll();
  const rows = await (
    'id' in where
      ? query.where('id', '=', where.id)
      : query.where('pipeline_id', '=', where.pipeline_id).where('retried', '=', 0)
  )
    .orderBy('id')
    .limit(maxJobs)
    .execute();
  if (rows.length === 0) return [];
  const archives = await loadArchives(
    tx,
    rows.map(({ id }) => id),
  );
  const configs = await loadJobConfigs(
    tx.db,
    rows.filter(({ environment }) => environment !== null),
  );
  return rows.map(({ token_hash: _hash, ...job }) => ({
    ...job,
    artifact: archives.get(job.id) ?? null,
    environment_action: configs.get(job.config_id)?.environment?.action ?? null,
  }));
};

const loadPipeline = async ({ db }: Tx, id: number): Promise<Pick<Records, 'pipeline'>> => {
  const row = await db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return {};
  const variables = await db
    .selectFrom('pipeline_variables')
    .select('key')
    .where('pipeline_id', '=', id)
    .orderBy('key')
    .execute();
  return { pipeline: { ...row, variables } };
};

const loadStages = async ({ db }: Tx, pipelineId: number) =>
  await db
    .selectFrom('stages')
    .selectAll()
    .where('pipeline_id', '=', pipelineId)
    .orderBy('position')
    .execute();

export const loadPipelineRecords = async (tx: Tx, id: number): Promise<Records> => {
  const { pipeline } = await loadPipeline(tx, id);
  if (pipeline === undefined) return {};
  const jobs = await loadJobs(tx, { pipeline_id: id });
  const { merge_request_id } = pipeline;
  const merge_request =
    merge_request_id === null ? undefined : await loadMergeRequestFacts(tx, merge_request_id);
  return {
    pipeline,
    stages: await loadStages(tx, id),
    jobs,
    runners: await loadRunners(tx, jobs),
    environments: await loadEnvironments(tx, jobs),
    ...(merge_request !== undefined && { merge_request }),
  };
};

const countRetries = async ({ db }: Tx, { pipeline_id, name }: JobFacts): Promise<number> => {
  const { count } = await db
    .selectFrom('jobs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('pipeline_id', '=', pipeline_id)
    .where('name', '=', name)
    .where('retried', '=', 1)
    .executeTakeFirstOrThrow();
  return count;
};

export const loadJobRecords = async (tx: Tx, id: number): Promise<Records> => {
  const jobs = await loadJobs(tx, { id });
  const [job] = jobs;
  if (job === undefined) return {};
  return {
    ...(await loadPipeline(tx, job.pipeline_id)),
    job: { ...job, retries_count: await countRetries(tx, job) },
    runners: await loadRunners(tx, jobs),
    environments: await loadEnvironments(tx, jobs),
  };
};

export const loadDeploymentRecords = async (tx: Tx, id: number): Promise<Records> => {
  const deployment = await tx.db
    .selectFrom('deployments')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  if (deployment === undefined) return {};
  const environment = await tx.db
    .selectFrom('environments')
    .selectAll()
    .where('id', '=', deployment.environment_id)
    .executeTakeFirst();
  return { deployment, ...(environment !== undefined && { environment }) };
};

/** @param deleted the row of a release that is gone */
export const loadReleaseRecords = async (
  { db }: Tx,
  id: number,
  { release: deleted }: { release?: Records['release'] },
): Promise<Records> => {
  const row = await db.selectFrom('releases').selectAll().where('id', '=', id).executeTakeFirst();
  const links = await db
    .selectFrom('release_links')
    .selectAll()
    .where('release_id', '=', id)
    .orderBy('id')
    .execute();
  const release = row ?? deleted;
  return release === undefined ? {} : { release: { ...release, links } };
};
