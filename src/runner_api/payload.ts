/** The body of a 201: all that a runner needs for a job. A wrong type in it, and the runner loses the job. */
import type { Call } from '../access/call.ts';
import { type Artifact, findArtifact } from '../artifacts/store.ts';
import { type Facts, factsOf } from '../pipelines/job_facts.ts';
import type { JobVariable } from '../pipelines/job_predefined.ts';
import { variablesOf } from '../pipelines/job_variables.ts';
import { keepPipelineRef } from '../pipelines/persistent_ref.ts';
import type { JobConfig } from '../pipelines/store.ts';
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
const dependedOn = async ({ platform, dependencies }: Facts, now: number): Promise<Depended[]> => {
  const { db } = platform.store;
  const found = await Promise.all(
    dependencies.map(async ({ id, name }) => ({ id, name, artifact: await findArtifact(db, id, { now }) })),
  );
  return found.flatMap(({ id, name, artifact }) => (artifact === null ? [] : [{ id, name, artifact }]));
};

const depthOf = (variables: readonly JobVariable[], ofProject: number): number => {
  const said = variables.find(({ key }) => key === 'GIT_DEPTH')?.value ?? '';
  return /^\d{1,9}$/.test(said) ? Number(said) : ofProject;
};

const jobInfo = ({ job, project, pipeline }: Facts): object => ({
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
  { job, pipeline: made, token }: Claimed,
): Promise<Payload> => {
  const facts = await factsOf(platform, { job, pipeline: made, issue: { base_url, token } });
  if (facts === null) throw new Error('the project of a job is gone');
  const { project, repository, pipeline, config } = facts;
  const [variables, depended, cache] = await Promise.all([
    variablesOf(facts),
    dependedOn(facts, now),
    payloadCaches(config.cache, { repository, sha: pipeline.sha, isProtected: pipeline.protected === 1 }),
    keepPipelineRef(platform, repository, pipeline),
  ]);
  const timeout = job.timeout ?? 3600;
  const depth = depthOf(variables, project.ci_default_git_depth);
  const hooks = config.pre_get_sources_script;
  const body = {
    id: job.id,
    token,
    allow_git_fetch: true,
    job_info: jobInfo(facts),
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
