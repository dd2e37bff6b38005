/** Builds the predefined `CI_` variables of a job. */
import { toEnvironmentSlug, guessTier } from '../../environments/slug_and_tier.ts';
import { immutableRowCache } from '../../../platform/db/immutable_rows.ts';
import type { Commit } from '../../../platform/git/protocol_types.ts';
import { jobUrl, pipelineUrl } from '../../../code/repository/statuses/pipeline_summary.ts';
import { formatTime, formatTimeOrNull } from '../../../platform/time.ts';
import { type Facts, loadPipelineCommit } from './job_facts.ts';
import { loadOpenRequestsText } from '../creation/merge_request_facts.ts';
import { pipelineRef } from '../creation/pipeline_ref.ts';
import { type PipelineRef, toPredefinedVariables, toSlug } from './pipeline_predefined.ts';
import { toServerVariables } from './server_variables.ts';
import { cacheJson } from './variable_json.ts';
import type { JobVariable } from './job_variable.ts';

export const plain = { public: true, file: false, masked: false, raw: true };

const toPublicVariable = (key: string, value: string): JobVariable => ({
  key,
  value,
  public: true,
  file: false,
  masked: false,
  raw: true,
});

/** Values by key; null omits the variable. */
type Values = Record<string, string | null>;

const toVariables = (values: Values): JobVariable[] => {
  const variables: JobVariable[] = [];
  for (const key of Object.keys(values)) {
    const value = values[key] ?? null;
    if (value !== null) variables.push(toPublicVariable(key, value));
  }
  return variables;
};

export const secret = (key: string, value: string, masked: boolean): JobVariable => ({
  ...plain,
  key,
  value,
  public: false,
  masked,
});

const emptyIdentity = { name: '', email: '', time: 0, offset: '+0000' };

/** Returns a placeholder for a commit that is gone. */
const toMissingCommit = (id: string): Commit => ({
  id,
  tree: id,
  parents: [],
  author: emptyIdentity,
  committer: emptyIdentity,
  message: '',
});

const toPipelineValues = (
  { project, pipeline, request, issue, user }: Facts,
  ref: PipelineRef,
  commit: Commit,
  open_requests: string,
): Record<string, string> => ({
  ...toPredefinedVariables({
    project,
    source: pipeline.source,
    ref,
    isProtected: pipeline.protected === 1,
    commit,
    before_sha: pipeline.before_sha,
    user,
    ...(request !== null && { merge_request: request }),
    open_requests,
  }),
  CI_PROJECT_URL: `${issue.base_url}/${project.full_path}`,
  CI_PIPELINE_ID: String(pipeline.id),
  CI_PIPELINE_IID: String(pipeline.iid),
  CI_PIPELINE_URL: pipelineUrl(issue.base_url, project.full_path, pipeline.id),
  CI_PIPELINE_CREATED_AT: formatTime(pipeline.created_at),
  ...(pipeline.name !== null && { CI_PIPELINE_NAME: pipeline.name }),
  ...(request !== null && {
    CI_MERGE_REQUEST_PROJECT_URL: `${issue.base_url}/${request.target_project_path}`,
    CI_MERGE_REQUEST_SOURCE_PROJECT_URL: `${issue.base_url}/${request.source_project_path}`,
  }),
});

const toEnvironmentVariables = ({ job, config }: Facts): JobVariable[] => {
  const { environment } = config;
  if (environment === null || job.environment === null) return [];
  const { url, action, deployment_tier } = environment;
  return [
    ...toVariables({
      CI_ENVIRONMENT_NAME: job.environment,
      CI_ENVIRONMENT_SLUG: toEnvironmentSlug(job.environment),
      CI_ENVIRONMENT_ACTION: action,
      CI_ENVIRONMENT_TIER: deployment_tier ?? guessTier(job.environment),
    }),
    // May reference variables that only the runner knows.
    ...(url === null ? [] : [{ ...plain, key: 'CI_ENVIRONMENT_URL', value: url, raw: false }]),
  ];
};

const toRunnerValues = ({ job: { runner_id }, runner }: Facts): Values => ({
  CI_RUNNER_ID: runner_id === null ? null : String(runner_id),
  CI_RUNNER_DESCRIPTION: runner_id === null || runner === null ? null : (runner.description ?? ''),
  CI_RUNNER_TAGS: runner_id === null || runner === null ? null : runner.tag_list,
});

const toJobValues = ({ project, job, config, issue }: Facts): Values => ({
  CI_JOB_ID: String(job.id),
  CI_JOB_NAME: job.name,
  CI_JOB_NAME_SLUG: toSlug(job.name),
  CI_JOB_GROUP_NAME: config.group,
  CI_JOB_STAGE: job.stage,
  CI_JOB_URL: jobUrl(`${issue.base_url}/${project.full_path}`, job.id),
  CI_JOB_STARTED_AT: formatTimeOrNull(job.started_at),
  CI_JOB_TIMEOUT: job.timeout === null ? null : String(job.timeout),
  CI_JOB_MANUAL: job.run_when === 'manual' ? 'true' : null,
  CI_JOB_IMAGE: config.image === null ? null : config.image.name,
  CI_NODE_TOTAL: String(config.parallel?.total ?? 1),
  CI_NODE_INDEX: config.parallel === null ? null : String(config.parallel.index),
});

/** Returns the variables by their names before release 9. */
const toLegacyValues = ({ pipeline, job }: Facts, values: Record<string, string>): Values => ({
  CI_BUILD_ID: String(job.id),
  CI_BUILD_REF: pipeline.sha,
  CI_BUILD_BEFORE_SHA: pipeline.before_sha,
  CI_BUILD_REF_NAME: values['CI_COMMIT_REF_NAME'] ?? pipeline.ref,
  CI_BUILD_REF_SLUG: values['CI_COMMIT_REF_SLUG'] ?? '',
  CI_BUILD_NAME: job.name,
  CI_BUILD_STAGE: job.stage,
  CI_BUILD_TAG: pipeline.tag === 1 ? pipeline.ref : null,
  CI_BUILD_TRIGGERED: pipeline.source === 'trigger' ? 'true' : null,
  CI_BUILD_MANUAL: job.run_when === 'manual' ? 'true' : null,
});

/** Returns the clone URL with the job's token as password. */
export const repositoryUrl = (base_url: string, full_path: string, token: string): string =>
  `${base_url.replace(/^(https?:\/\/)/, `$1gitlab-ci-token:${token}@`)}/${full_path}.git`;

type PipelineValues = { values: Record<string, string>; variables: JobVariable[] };

/** Values by pipeline id, with the key of the data that they were built from. */
const pipelineCache = immutableRowCache<number, PipelineValues & { key: string }>(50);

/** Loads the values that jobs of one pipeline, user and base URL share. */
const loadPipelineValues = async (facts: Facts): Promise<PipelineValues> => {
  const { platform, project, pipeline, user, request, issue } = facts;
  const { db } = platform.store;
  const ref = pipelineRef(pipeline, request);
  const open_requests = ref.type === 'tag' ? '' : await loadOpenRequestsText(db, project.id, ref.name);
  const commit = await loadPipelineCommit(facts);
  const { protected: isProtected, name } = pipeline;
  const key = JSON.stringify([
    project,
    user,
    request,
    open_requests,
    issue.base_url,
    isProtected,
    name,
    commit === null,
  ]);
  const cached = pipelineCache.get(db, pipeline.id);
  if (cached?.key === key) return cached;
  const values = toPipelineValues(facts, ref, commit ?? toMissingCommit(pipeline.sha), open_requests);
  const serverValues = toServerVariables(issue.base_url, platform.version);
  const entry = { key, values, variables: cacheJson([...toVariables(serverValues), ...toVariables(values)]) };
  pipelineCache.set(db, pipeline.id, entry);
  return entry;
};

const toJobVariables = (facts: Facts, toPipelineValues: Record<string, string>): JobVariable[] => {
  const { project, issue } = facts;
  const { base_url, token } = issue;
  return [
    ...toVariables(toJobValues(facts)),
    ...toVariables(toRunnerValues(facts)),
    secret('CI_JOB_TOKEN', token, true),
    secret('CI_REPOSITORY_URL', repositoryUrl(base_url, project.full_path, token), false),
    ...toVariables(toLegacyValues(facts, toPipelineValues)),
    secret('CI_BUILD_TOKEN', token, true),
    ...toEnvironmentVariables(facts),
  ];
};

/** Returns the predefined variables: variables of the pipeline and of the job. No key occurs twice. */
export const loadPredefinedLists = async (facts: Facts): Promise<[JobVariable[], JobVariable[]]> => {
  const { pipeline, user, issue, queries } = facts;
  const { values, variables } = await queries.once(
    `pipeline ${pipeline.protected} ${user?.id} ${issue.base_url}`,
    async () => await loadPipelineValues(facts),
  );
  return [variables, toJobVariables(facts, values)];
};
