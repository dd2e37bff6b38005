/** Loads the data that a job's variables are built from, in few queries, because every assigned job needs them. */
import type { Selectable } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import { immutableRowCache } from '../../../platform/db/immutable_rows.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { ProjectsTable } from '../../../platform/db/schema/projects.ts';
import type { Commit } from '../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { loadCommits } from '../../../code/repository/refs/resolve.ts';
import { loadAllDependencies } from './cross_dependencies.ts';
import type { Dependency } from './dependencies.ts';
import { loadMergeRequestFacts } from '../creation/merge_request_facts.ts';
import type { MergeRequestFacts } from './pipeline_predefined.ts';
import {
  type Job,
  type JobConfig,
  type Pipeline,
  selectJobById,
  loadJobConfig,
  selectPipelineById,
} from '../pipeline_rows.ts';
import { type SharedQueries, shareQueries } from '../shared_queries.ts';

/** Base URL, token and runner, which only the code that assigns the job knows. */
export type JobAccess = {
  base_url: string;
  /** The job's token in plain text. */
  token: string;
  /** The job's runner, if already loaded. */
  runner?: RunnerFacts;
};

type RunnerFacts = { description: string | null; tag_list: string };

const projectColumns = [
  'id',
  'namespace_id',
  'path',
  'full_path',
  'name',
  'visibility',
  'default_branch',
  'ci_config_path',
  'ci_default_git_depth',
  'repository_storage',
  'repository_path',
  'repository_written',
] as const;

type JobProject = Pick<Selectable<ProjectsTable>, (typeof projectColumns)[number]>;

export type Facts = {
  platform: Platform;
  project: JobProject;
  repository: Repository;
  pipeline: Pipeline;
  job: Job;
  config: JobConfig;
  issue: JobAccess;
  request: MergeRequestFacts | null;
  /** The user who started the job, or else created the pipeline. */
  user: { id: number; username: string; name: string; email: string; state: 'active' | 'blocked' } | null;
  runner: RunnerFacts | null;
  /** Jobs whose artifacts and variables it gets. */
  dependencies: Dependency[];
  queries: SharedQueries;
};

const selectProjectUserRunner = compiled(
  (db, params: { project_id: number; user_id: number | null; runner_id: number | null }) =>
    db
      .selectFrom('projects')
      .leftJoin('users', (join) => join.on('users.id', '=', params.user_id))
      .leftJoin('runners', (join) => join.on('runners.id', '=', params.runner_id))
      .select(projectColumns.map((name) => `projects.${name}` as const))
      .select([
        'users.id as user_id',
        'users.username',
        'users.name as user_name',
        'users.email',
        'users.state',
        'runners.description',
        'runners.tag_list',
      ])
      .where('projects.id', '=', params.project_id)
      .where('projects.deleted_at', 'is', null)
      .compile(),
);

type ProjectUserRunner = Pick<Facts, 'project' | 'user' | 'runner'>;

/** Loads project, user and runner once for all jobs of these queries. Skips the runner if the caller passes it. */
const loadShared = async (
  db: Reader,
  { job, pipeline, issue }: Issued,
  { once }: SharedQueries,
): Promise<ProjectUserRunner | null> => {
  const { project_id } = job;
  const user_id = job.user_id ?? pipeline.user_id;
  const runner_id = issue.runner === undefined ? job.runner_id : null;
  const shared = await once(
    `around ${user_id} ${runner_id}`,
    async () => await loadProjectUserRunner(db, { project_id, user_id, runner_id }),
  );
  return shared === null || issue.runner === undefined ? shared : { ...shared, runner: issue.runner };
};

type ProjectUserRunnerIds = { project_id: number; user_id: number | null; runner_id: number | null };

const loadProjectUserRunner = async (
  db: Reader,
  ids: ProjectUserRunnerIds,
): Promise<ProjectUserRunner | null> => {
  const [row] = await selectProjectUserRunner(db, ids);
  if (row === undefined) return null;
  const { user_id: id, username, user_name: name, email, state, description, tag_list, ...project } = row;
  const hasUser = id !== null && username !== null && name !== null && email !== null && state !== null;
  return {
    project,
    user: hasUser ? { id, username, name, email, state } : null,
    runner: tag_list === null ? null : { description, tag_list },
  };
};

export type Issued = { job: Job; pipeline: Pipeline; issue: JobAccess; queries?: SharedQueries };

/** Loads the facts of a job whose rows are loaded. null if its project is gone. */
export const loadJobFacts = async (platform: Platform, issued: Issued): Promise<Facts | null> => {
  const { db } = platform.store;
  const { job, pipeline, issue, queries = shareQueries([job.id]) } = issued;
  const shared = await loadShared(db, issued, queries);
  if (shared === null) return null;
  const config = await loadJobConfig(db, job);
  const { merge_request_id: id } = pipeline;
  return {
    ...shared,
    platform,
    repository: getRepository(platform, shared.project),
    // The job's flag wins: the ref's protection may have changed since the pipeline was created.
    pipeline: pipeline.protected === job.protected ? pipeline : { ...pipeline, protected: job.protected },
    job,
    config,
    issue,
    request:
      id === null ? null : await queries.once('request', async () => await loadMergeRequestFacts(db, id)),
    dependencies: await loadAllDependencies(platform, job, config, queries),
    queries,
  };
};

/** Loads the facts of a job by id. null if the job or its project is gone. */
export const loadJobFactsById = async (
  platform: Platform,
  jobId: number,
  issue: JobAccess,
): Promise<Facts | null> => {
  const { db } = platform.store;
  const [job] = await selectJobById(db, { id: jobId });
  const [pipeline] = job === undefined ? [] : await selectPipelineById(db, { id: job.pipeline_id });
  return job === undefined || pipeline === undefined
    ? null
    : await loadJobFacts(platform, { job, pipeline, issue });
};

const commits = immutableRowCache<string, Commit>(200);
/** Characters. */
const maxCachedMessage = 4_096;

/** Loads the pipeline's commit; null if it is gone. */
export const loadPipelineCommit = async ({
  platform,
  repository,
  pipeline,
}: Facts): Promise<Commit | null> => {
  const { db } = platform.store;
  const { sha } = pipeline;
  const cached = commits.get(db, sha);
  if (cached !== undefined) return cached;
  const commit = (await loadCommits(repository, [sha])).get(sha) ?? null;
  if (commit !== null && commit.message.length <= maxCachedMessage) commits.set(db, sha, commit);
  return commit;
};
