/** The body of a 201: all that a runner needs for a job. A wrong type in it, and the runner loses the job. */
import type { Call, Platform } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import { type Artifact, findArtifact } from '../artifacts/store.ts';
import { dependenciesOf } from '../pipelines/dependencies.ts';
import type { JobVariable } from '../pipelines/job_predefined.ts';
import { variablesOfJob } from '../pipelines/job_variables.ts';
import { ensurePipelineRef } from '../pipelines/persistent_ref.ts';
import { type Job, type JobConfig, jobConfigOf } from '../pipelines/store.ts';
import { repositoryOf } from '../repository/open.ts';
import type { Claimed } from './claim.ts';
import { failureReasons } from './failure_reasons.ts';
import { payloadArtifacts } from './payload_artifacts.ts';
import { payloadCaches } from './payload_cache.ts';
import { payloadGit } from './payload_git.ts';
import { payloadImage, payloadService } from './payload_image.ts';

/** What tokens begin with, that no log may show. */
const tokenPrefixes = ['gntpat-', 'gntoat-', 'gntort-', 'gntoac-', 'gntoas-', 'glcbt-', 'glrt-', 'glrtr-'];

const stepsOf = ({ before_script, script, after_script }: JobConfig, timeout: number): object[] => {
  const run = {
    name: 'script',
    script: [...before_script, ...script],
    timeout,
    when: 'on_success',
    allow_failure: false,
  };
  const after = { name: 'after_script', script: after_script, timeout, when: 'always', allow_failure: true };
  return after_script.length === 0 ? [run] : [run, after];
};

type Depended = { id: number; name: string; artifact: Artifact };

/** Those that left an archive which is still there. */
const dependedOn = async (db: Reader, job: Job, config: JobConfig, now: number): Promise<Depended[]> => {
  const all = await dependenciesOf(db, job, config);
  const found = await Promise.all(
    all.map(async ({ id, name }) => ({ id, name, artifact: await findArtifact(db, id, { now }) })),
  );
  return found.flatMap(({ id, name, artifact }) => (artifact === null ? [] : [{ id, name, artifact }]));
};

const depthOf = (variables: readonly JobVariable[], ofProject: number): number => {
  const said = variables.find(({ key }) => key === 'GIT_DEPTH')?.value ?? '';
  return /^\d{1,9}$/.test(said) ? Number(said) : ofProject;
};

const projectOf = async ({ store }: Platform, id: number) =>
  await store.db
    .selectFrom('projects')
    .select(['id', 'name', 'full_path', 'namespace_id', 'repository_storage', 'ci_default_git_depth'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

const pipelineOf = async ({ store }: Platform, id: number) =>
  await store.db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

type Parts = {
  job: Job;
  token: string;
  project: Awaited<ReturnType<typeof projectOf>>;
  pipeline: Awaited<ReturnType<typeof pipelineOf>>;
};

const jobInfo = ({ job, project, pipeline }: Parts): object => ({
  id: job.id,
  name: job.name,
  stage: job.stage,
  project_id: project.id,
  project_name: project.name,
  project_full_path: project.full_path,
  namespace_id: project.namespace_id,
  pipeline_id: pipeline.id,
  user_id: job.user_id ?? 0,
  time_in_queue_seconds: Math.max(0, (job.started_at ?? 0) - (job.queued_at ?? job.started_at ?? 0)) / 1000,
  // A text, as runners read it.
  project_jobs_running_on_instance_runners_count: '+Inf',
});

export type Payload = { body: object; /** Not to be read in the log. */ secrets: string[] };

/** Shorter ones would take ordinary words out of a log. */
const shortestSecret = 8;

export const secretsAmong = (variables: readonly JobVariable[], token: string): string[] => {
  const masked = variables.filter(
    ({ masked: isMasked, value }) => isMasked && value.length >= shortestSecret,
  );
  return [...new Set([token, ...masked.map(({ value }) => value)])];
};

export const payloadOf = async (
  { platform, baseUrl: base_url, now }: Pick<Call, 'platform' | 'baseUrl' | 'now'>,
  { job, token }: Claimed,
): Promise<Payload> => {
  const { db } = platform.store;
  const [project, pipeline, config] = await Promise.all([
    projectOf(platform, job.project_id),
    pipelineOf(platform, job.pipeline_id),
    jobConfigOf(db, job),
  ]);
  const repository = repositoryOf(platform, project);
  const isProtected = pipeline.protected === 1;
  const [variables, depended, cache] = await Promise.all([
    variablesOfJob(platform, job.id, { base_url, token }),
    dependedOn(db, job, config, now),
    payloadCaches(config.cache, { repository, sha: pipeline.sha, isProtected }),
    ensurePipelineRef(platform, pipeline),
  ]);
  const timeout = job.timeout ?? 3600;
  const depth = depthOf(variables, project.ci_default_git_depth);
  const hooks = config.pre_get_sources_script;
  const body = {
    id: job.id,
    token,
    allow_git_fetch: true,
    job_info: jobInfo({ job, token, project, pipeline }),
    git_info: payloadGit(pipeline, { depth, base_url, full_path: project.full_path, token }),
    runner_info: { timeout },
    variables,
    steps: stepsOf(config, timeout),
    image: config.image === null ? null : payloadImage(config.image),
    services: config.services.map(payloadService),
    artifacts: payloadArtifacts(config.artifacts),
    cache,
    credentials: [],
    dependencies: depended.map(({ id, name, artifact: { filename, size } }) => ({
      id,
      name,
      token,
      artifacts_file: {
        filename,
        size,
      },
    })),
    features: {
      trace_sections: true,
      token_mask_prefixes: tokenPrefixes,
      failure_reasons: failureReasons,
    },
    ...(hooks.length > 0 && { hooks: [{ name: 'pre_get_sources_script', script: hooks }] }),
  };
  return { body, secrets: secretsAmong(variables, token) };
};
