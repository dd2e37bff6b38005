/** The body of a 201: all that a runner needs for a job. A wrong type in it, and the runner loses the job. */
import type { Call } from '../access/call.ts';
import { JsonText } from '../http/endpoint.ts';
import { type Facts, factsOf } from '../pipelines/job_facts.ts';
import type { JobVariable } from '../pipelines/job_predefined.ts';
import { variableListsOf } from '../pipelines/job_variables.ts';
import { keepPipelineRef } from '../pipelines/persistent_ref.ts';
import type { JobConfig } from '../pipelines/store.ts';
import { type VariableLists, variableBytes } from '../pipelines/variable_texts.ts';
import type { Claimed } from './claim.ts';
import { findCrossNeeds } from './cross_needs.ts';
import { isDebugged, noteDebugged } from './debug_trace.ts';
import { failureReasons } from './failure_reasons.ts';
import { payloadArtifacts } from './payload_artifacts.ts';
import { payloadCaches } from './payload_cache.ts';
import { type Depended, payloadDependencies, withArchives } from './payload_dependencies.ts';
import { payloadGit } from './payload_git.ts';
import { payloadImage, payloadService } from './payload_image.ts';
import { releaseScript } from './payload_release.ts';
import { hasFeature, readInfo } from './runner_info.ts';
import { whyUnrunnable } from './unrunnable.ts';

/** What tokens begin with, that no log may show. */
const tokenPrefixes = ['gntpat-', 'gntoat-', 'gntort-', 'gntoac-', 'gntoas-', 'glcbt-', 'glrt-', 'glrtr-'];

const releaseSteps = ({ release }: JobConfig, timeout: number, info: unknown): object[] => {
  if (typeof release !== 'object' || release === null) return [];
  const script = releaseScript(release, readInfo(info).shell);
  return [{ name: 'release', script, timeout, when: 'on_success', allow_failure: false }];
};

/** A runner of old passes over steps that it does not know: nothing would be released, and the job succeed. */
const skipsSteps = ({ release }: JobConfig, info: unknown): boolean =>
  typeof release === 'object' && release !== null && !hasFeature(info, 'multi_build_steps');

const stepsOf = (config: JobConfig, timeout: number, info: unknown): object[] => {
  const { before_script, script, after_script } = config;
  const run = {
    name: 'script',
    script: [...before_script, ...script],
    timeout,
    when: 'on_success',
    allow_failure: false,
  };
  const after = { name: 'after_script', script: after_script, timeout, when: 'always', allow_failure: true };
  const steps = [run, ...releaseSteps(config, timeout, info)];
  return after_script.length === 0 ? steps : [...steps, after];
};

const valueOf = (lists: VariableLists, name: string): string | undefined => {
  for (const list of lists) {
    const found = list.find(({ key }) => key === name);
    if (found !== undefined) return found.value;
  }
  return undefined;
};

const depthOf = (variables: VariableLists, ofProject: number): number => {
  const said = valueOf(variables, 'GIT_DEPTH') ?? '';
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

export type Payload = { text: JsonText; /** Not to be read in the log. */ secrets: string[] };

/** Why no runner can run it. */
export type Unrunnable = { unrunnable: string };

/** Shorter ones would take ordinary words out of a log. */
const shortestSecret = 8;

const isSecret = ({ masked, value }: JobVariable): boolean => masked && value.length >= shortestSecret;

export const secretsAmong = (variables: VariableLists, token: string): string[] => {
  const secrets = variables.flatMap((list) => list.filter(isSecret));
  return [...new Set([token, ...secrets.map(({ value }) => value)])];
};

const features = {
  trace_sections: true,
  token_mask_prefixes: tokenPrefixes,
  failure_reasons: failureReasons,
};

const beforeVariables = Buffer.from(',"variables":[');
const afterVariables = Buffer.from(`],"features":${JSON.stringify(features)}}`);

/** Most of it is the same for many jobs, and was put into bytes for the first of them. */
const textOf = (body: object, variables: VariableLists): JsonText => {
  const own = Buffer.from(JSON.stringify(body)).subarray(0, -1);
  return new JsonText(Buffer.concat([own, beforeVariables, ...variableBytes(variables), afterVariables]));
};

const dependedOn = async (
  { platform, dependencies, together }: Facts,
  now: number,
): Promise<readonly Depended[]> => {
  if (dependencies.length === 0) return [];
  const ids = dependencies.map(({ id }) => id).join();
  const ask = async () => await withArchives(platform.store.db, dependencies, now);
  return await together.once(`archives ${ids}`, ask);
};

export const payloadOf = async (
  { platform, baseUrl: base_url, now }: Pick<Call, 'platform' | 'baseUrl' | 'now'>,
  claimed: Claimed,
  runner?: { description: string | null; tag_list: string },
  info?: unknown,
): Promise<Payload | Unrunnable> => {
  const missing = await findCrossNeeds({ platform, baseUrl: base_url }, claimed);
  if (missing !== null) return { unrunnable: missing };
  const { job, pipeline: made, token, together } = claimed;
  const issue = { base_url, token, ...(runner !== undefined && { runner }) };
  const facts = await factsOf(platform, { job, pipeline: made, issue, together });
  if (facts === null) throw new Error('the project of a job is gone');
  const { project, repository, pipeline, config } = facts;
  const depended = await dependedOn(facts, now);
  const unrunnable = whyUnrunnable(facts, depended);
  if (unrunnable !== null) return { unrunnable };
  if (skipsSteps(config, info)) return { unrunnable: 'runner_unsupported' };
  const [variables, cache] = await Promise.all([
    variableListsOf(facts),
    payloadCaches(config.cache, { repository, sha: pipeline.sha, isProtected: pipeline.protected === 1 }),
    keepPipelineRef(platform, repository, pipeline, claimed.was),
  ]);
  if (variables.some(isDebugged)) await noteDebugged(platform, job.id);
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
    steps: stepsOf(config, timeout, info),
    image: config.image === null ? null : payloadImage(config.image),
    services: config.services.map(payloadService),
    artifacts: payloadArtifacts(config.artifacts, hasFeature(info, 'upload_multiple_artifacts')),
    cache,
    credentials: [],
    dependencies: payloadDependencies(depended, token),
    ...(hooks.length > 0 && { hooks: [{ name: 'pre_get_sources_script', script: hooks }] }),
  };
  return { text: textOf(body, variables), secrets: secretsAmong(variables, token) };
};
