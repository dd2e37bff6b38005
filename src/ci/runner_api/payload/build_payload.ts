/** The body of a 201: all that a runner needs for a job. With a wrong type in it, the runner loses the job. */
import { hash } from 'node:crypto';
import type { Call } from '../../../core/access/call.ts';
import { getRepositoryPath } from '../../../platform/git/storages.ts';
import { JsonText } from '../../../platform/http/endpoint.ts';
import { type Facts, loadJobFacts } from '../../pipelines/predefined_variables/job_facts.ts';
import type { JobVariable } from '../../pipelines/predefined_variables/job_variable.ts';
import { loadVariableLists } from '../../pipelines/predefined_variables/job_variables.ts';
import { ensurePipelineRefCached } from '../../pipelines/creation/persistent_ref.ts';
import type { JobConfig } from '../../pipelines/pipeline_rows.ts';
import { type VariableLists, toVariableBytes } from '../../pipelines/predefined_variables/variable_json.ts';
import type { Claimed } from '../queue/claim_jobs.ts';
import { resolveCrossNeeds } from '../queue/resolve_cross_needs.ts';
import { isDebugged, markDebugTrace } from '../debug_trace.ts';
import { failureReasons } from '../failure_reasons.ts';
import { buildPayloadArtifacts } from './artifacts.ts';
import { buildPayloadCaches } from './cache.ts';
import { type JobDependency, toPayloadDependencies, loadWithArchives } from './dependencies.ts';
import { buildPayloadGit } from './git.ts';
import { toPayloadImage, toPayloadService } from './image.ts';
import { buildReleaseScript } from './release_script.ts';
import { hasFeature, readInfo } from '../runner_info.ts';
import { getUnrunnableReason } from '../queue/fail_unrunnable_jobs.ts';

/** Prefixes of tokens, which runners mask in traces. */
const tokenPrefixes = ['gntpat-', 'gntoat-', 'gntort-', 'gntoac-', 'gntoas-', 'glcbt-', 'glrt-', 'glrtr-'];

const releaseSteps = ({ release }: JobConfig, timeout: number, info: unknown): object[] => {
  if (typeof release !== 'object' || release === null) return [];
  const script = buildReleaseScript(release, readInfo(info).shell);
  return [{ name: 'release', script, timeout, when: 'on_success', allow_failure: false }];
};

/** Checks for a runner that ignores unknown steps: the job would succeed without its release. */
const skipsSteps = ({ release }: JobConfig, info: unknown): boolean =>
  typeof release === 'object' && release !== null && !hasFeature(info, 'multi_build_steps');

const buildSteps = (config: JobConfig, timeout: number, info: unknown): object[] => {
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

const toText = (lists: VariableLists, name: string): string | undefined => {
  for (const list of lists) {
    const variable = list.find(({ key }) => key === name);
    if (variable !== undefined) return variable.value;
  }
  return undefined;
};

const getDepth = (variables: VariableLists, ofProject: number): number => {
  const value = toText(variables, 'GIT_DEPTH') ?? '';
  return /^\d{1,9}$/.test(value) ? Number(value) : ofProject;
};

/**
 * A key unique to the project, stable across its jobs. It also differs from a project that had the same id before a
 * restore.
 */
const computeProjectKey = (place: Pick<Facts['project'], 'id' | 'repository_path'>): string =>
  hash('sha256', `project ${getRepositoryPath(place)}`, 'hex').slice(0, 32);

const jobInfo = ({ job, project, pipeline }: Facts): object => ({
  id: job.id,
  name: job.name,
  stage: job.stage,
  project_id: project.id,
  project_name: project.name,
  project_full_path: project.full_path,
  project_key: computeProjectKey(project),
  namespace_id: project.namespace_id,
  pipeline_id: pipeline.id,
  user_id: job.user_id ?? 0,
  time_in_queue_seconds: Math.max(0, (job.started_at ?? 0) - (job.queued_at ?? job.started_at ?? 0)) / 1000,
  // A string, which runners expect.
  project_jobs_running_on_instance_runners_count: '+Inf',
});

export type Payload = { text: JsonText; /** Values to mask in the trace. */ secrets: string[] };

/** Why no runner can run it. */
export type Unrunnable = { unrunnable: string };

/** Shorter secrets would mask ordinary words. */
const shortestSecret = 8;

const isSecret = ({ masked, value }: JobVariable): boolean => masked && value.length >= shortestSecret;

export const collectSecrets = (variables: VariableLists, token: string): string[] => {
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

/** Serializes the body. Variable lists are shared by many jobs, so their bytes are cached. */
const serializeBody = (body: object, variables: VariableLists): JsonText => {
  const own = Buffer.from(JSON.stringify(body)).subarray(0, -1);
  return new JsonText(Buffer.concat([own, beforeVariables, ...toVariableBytes(variables), afterVariables]));
};

const loadDependencies = async (
  { platform, dependencies, queries }: Facts,
  now: number,
): Promise<readonly JobDependency[]> => {
  if (dependencies.length === 0) return [];
  const ids = dependencies.map(({ id }) => id).join();
  const ask = async () => await loadWithArchives(platform.store.db, dependencies, now);
  return await queries.once(`archives ${ids}`, ask);
};

export const buildPayload = async (
  { platform, baseUrl: base_url, now }: Pick<Call, 'platform' | 'baseUrl' | 'now'>,
  claimed: Claimed,
  runner?: { description: string | null; tag_list: string },
  info?: unknown,
): Promise<Payload | Unrunnable> => {
  const missing = await resolveCrossNeeds({ platform, baseUrl: base_url }, claimed);
  if (missing !== null) return { unrunnable: missing };
  const { job, pipeline: created, token, queries } = claimed;
  const issue = { base_url, token, ...(runner !== undefined && { runner }) };
  const facts = await loadJobFacts(platform, { job, pipeline: created, issue, queries });
  if (facts === null) throw new Error('the project of a job is gone');
  const { project, repository, pipeline, config } = facts;
  const depended = await loadDependencies(facts, now);
  const unrunnable = getUnrunnableReason(facts, depended);
  if (unrunnable !== null) return { unrunnable };
  if (skipsSteps(config, info)) return { unrunnable: 'runner_unsupported' };
  const [variables, cache] = await Promise.all([
    loadVariableLists(facts),
    buildPayloadCaches(config.cache, {
      repository,
      sha: pipeline.sha,
      isProtected: pipeline.protected === 1,
    }),
    ensurePipelineRefCached(platform, repository, pipeline, claimed.was),
  ]);
  if (variables.some(isDebugged)) await markDebugTrace(platform, job.id);
  const timeout = job.timeout ?? 3600;
  const depth = getDepth(variables, project.ci_default_git_depth);
  const hooks = config.pre_get_sources_script;
  const body = {
    id: job.id,
    token,
    allow_git_fetch: true,
    job_info: jobInfo(facts),
    git_info: buildPayloadGit(pipeline, { depth, base_url, full_path: project.full_path, token }),
    runner_info: { timeout },
    steps: buildSteps(config, timeout, info),
    image: config.image === null ? null : toPayloadImage(config.image),
    services: config.services.map(toPayloadService),
    artifacts: buildPayloadArtifacts(config.artifacts, hasFeature(info, 'upload_multiple_artifacts')),
    cache,
    credentials: [],
    dependencies: toPayloadDependencies(depended, token),
    ...(hooks.length > 0 && { hooks: [{ name: 'pre_get_sources_script', script: hooks }] }),
  };
  return { text: serializeBody(body, variables), secrets: collectSecrets(variables, token) };
};
