/** What the variables of a job are made of: few questions, for each job that a runner takes asks them. */
import type { Selectable } from 'kysely';
import type { Platform } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import { keep } from '../db/kept.ts';
import type { Reader } from '../db/open.ts';
import type { ProjectsTable } from '../db/schema.ts';
import type { Commit } from '../git/protocol_types.ts';
import type { Repository } from '../git/repository.ts';
import { repositoryOf } from '../repository/open.ts';
import { commitsById } from '../repository/resolve.ts';
import { allDependenciesOf } from './cross_dependencies.ts';
import type { Dependency } from './dependencies.ts';
import { factsOfRequest } from './merge_request_facts.ts';
import type { MergeRequestFacts } from './predefined.ts';
import { type Job, type JobConfig, type Pipeline, jobById, jobConfigOf, pipelineById } from './store.ts';
import { type Together, together } from './together.ts';

/** What only the one who gives the job away knows. */
export type Issue = {
  base_url: string;
  /** The job's token, in plain. */
  token: string;
  /** Of its runner, where that is known. */
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
  issue: Issue;
  request: MergeRequestFacts | null;
  /** Who started the job, else who made the pipeline. */
  user: { id: number; username: string; name: string; email: string; state: 'active' | 'blocked' } | null;
  runner: RunnerFacts | null;
  /** Those whose artifacts and variables it gets. */
  dependencies: Dependency[];
  together: Together;
};

const around = compiled(
  (db, given: { project_id: number; user_id: number | null; runner_id: number | null }) =>
    db
      .selectFrom('projects')
      .leftJoin('users', (join) => join.on('users.id', '=', given.user_id))
      .leftJoin('runners', (join) => join.on('runners.id', '=', given.runner_id))
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
      .where('projects.id', '=', given.project_id)
      .where('projects.deleted_at', 'is', null)
      .compile(),
);

type Around = Pick<Facts, 'project' | 'user' | 'runner'>;

/** Of a runner that is known, nothing is asked. */
const aroundOf = async (
  db: Reader,
  { job, pipeline, issue }: Issued,
  { once }: Together,
): Promise<Around | null> => {
  const { project_id } = job;
  const user_id = job.user_id ?? pipeline.user_id;
  const runner_id = issue.runner === undefined ? job.runner_id : null;
  const found = await once(
    `around ${user_id} ${runner_id}`,
    async () => await readAround(db, { project_id, user_id, runner_id }),
  );
  return found === null || issue.runner === undefined ? found : { ...found, runner: issue.runner };
};

type AroundIds = { project_id: number; user_id: number | null; runner_id: number | null };

const readAround = async (db: Reader, ids: AroundIds): Promise<Around | null> => {
  const [row] = await around(db, ids);
  if (row === undefined) return null;
  const { user_id: id, username, user_name: name, email, state, description, tag_list, ...project } = row;
  const isKnown = id !== null && username !== null && name !== null && email !== null && state !== null;
  return {
    project,
    user: isKnown ? { id, username, name, email, state } : null,
    runner: tag_list === null ? null : { description, tag_list },
  };
};

export type Issued = { job: Job; pipeline: Pipeline; issue: Issue; together?: Together };

/** Of a job whose rows are known; null: its project is gone. */
export const factsOf = async (platform: Platform, issued: Issued): Promise<Facts | null> => {
  const { db } = platform.store;
  const { job, pipeline, issue, together: all = together([job.id]) } = issued;
  const found = await aroundOf(db, issued, all);
  if (found === null) return null;
  const config = await jobConfigOf(db, job);
  const { merge_request_id: id } = pipeline;
  return {
    ...found,
    platform,
    repository: repositoryOf(platform, found.project),
    // Of both, the job knows better: it may have been started when its ref was protected no longer.
    pipeline: pipeline.protected === job.protected ? pipeline : { ...pipeline, protected: job.protected },
    job,
    config,
    issue,
    request: id === null ? null : await all.once('request', async () => await factsOfRequest(db, id)),
    dependencies: await allDependenciesOf(platform, job, config, all),
    together: all,
  };
};

/** null: it is gone, or its project is. */
export const factsOfJob = async (platform: Platform, jobId: number, issue: Issue): Promise<Facts | null> => {
  const { db } = platform.store;
  const [job] = await jobById(db, { id: jobId });
  const [pipeline] = job === undefined ? [] : await pipelineById(db, { id: job.pipeline_id });
  return job === undefined || pipeline === undefined
    ? null
    : await factsOf(platform, { job, pipeline, issue });
};

const commits = keep<string, Commit>(200);
/** Characters. */
const longestMessage = 4_096;

/** The commit that it runs for; null: it is gone. */
export const commitOf = async ({ platform, repository, pipeline }: Facts): Promise<Commit | null> => {
  const { db } = platform.store;
  const { sha } = pipeline;
  const known = commits.get(db, sha);
  if (known !== undefined) return known;
  const commit = (await commitsById(repository, [sha])).get(sha) ?? null;
  if (commit !== null && commit.message.length <= longestMessage) commits.set(db, sha, commit);
  return commit;
};
