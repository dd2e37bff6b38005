/** What the service itself tells a job. */
import { environmentSlug, tierOf } from '../environments/slug.ts';
import { keep } from '../db/kept.ts';
import type { Commit } from '../git/protocol_types.ts';
import { jobUrl, pipelineUrl } from '../repository/pipeline_brief.ts';
import { formatTime } from '../time.ts';
import { type Facts, commitOf } from './job_facts.ts';
import { openRequestsText } from './merge_request_facts.ts';
import { pipelineRef } from './pipeline_ref.ts';
import { type PipelineRef, predefinedVariables, slugOf } from './predefined.ts';
import { serverVariables } from './server_variables.ts';
import { shared } from './variable_texts.ts';

export type JobVariable = {
  key: string;
  value: string;
  /** Nobody minds who sees it. */
  public: boolean;
  /** The runner writes it to a file, and sets the file's path. */
  file: boolean;
  masked: boolean;
  /** A `$` in it is nothing special. */
  raw: boolean;
};

export const plain = { public: true, file: false, masked: false, raw: true };

const visible = (key: string, value: string): JobVariable => ({
  key,
  value,
  public: true,
  file: false,
  masked: false,
  raw: true,
});

/** null: there is none. */
type Values = Record<string, string | null>;

const shown = (values: Values): JobVariable[] => {
  const all: JobVariable[] = [];
  for (const key of Object.keys(values)) {
    const value = values[key] ?? null;
    if (value !== null) all.push(visible(key, value));
  }
  return all;
};

export const secret = (key: string, value: string, masked: boolean): JobVariable => ({
  ...plain,
  key,
  value,
  public: false,
  masked,
});

const nobody = { name: '', email: '', time: 0, offset: '+0000' };

/** What is known of one that is gone. */
const lostCommit = (id: string): Commit => ({
  id,
  tree: id,
  parents: [],
  author: nobody,
  committer: nobody,
  message: '',
});

const ofPipeline = (
  { project, pipeline, request, issue, user }: Facts,
  ref: PipelineRef,
  commit: Commit,
  open_requests: string,
): Record<string, string> => ({
  ...predefinedVariables({
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

const ofEnvironment = ({ job, config }: Facts): JobVariable[] => {
  const { environment } = config;
  if (environment === null || job.environment === null) return [];
  const { url, action, deployment_tier } = environment;
  return [
    ...shown({
      CI_ENVIRONMENT_NAME: job.environment,
      CI_ENVIRONMENT_SLUG: environmentSlug(job.environment),
      CI_ENVIRONMENT_ACTION: action,
      CI_ENVIRONMENT_TIER: deployment_tier ?? tierOf(job.environment),
    }),
    // Names variables that only the runner knows.
    ...(url === null ? [] : [{ ...plain, key: 'CI_ENVIRONMENT_URL', value: url, raw: false }]),
  ];
};

const ofRunner = ({ job: { runner_id }, runner }: Facts): Values => ({
  CI_RUNNER_ID: runner_id === null ? null : String(runner_id),
  CI_RUNNER_DESCRIPTION: runner_id === null || runner === null ? null : (runner.description ?? ''),
  CI_RUNNER_TAGS: runner_id === null || runner === null ? null : runner.tag_list,
});

const ofJob = ({ project, job, config, issue }: Facts): Values => ({
  CI_JOB_ID: String(job.id),
  CI_JOB_NAME: job.name,
  CI_JOB_NAME_SLUG: slugOf(job.name),
  CI_JOB_GROUP_NAME: config.group,
  CI_JOB_STAGE: job.stage,
  CI_JOB_URL: jobUrl(`${issue.base_url}/${project.full_path}`, job.id),
  CI_JOB_STARTED_AT: job.started_at === null ? null : formatTime(job.started_at),
  CI_JOB_TIMEOUT: job.timeout === null ? null : String(job.timeout),
  CI_JOB_MANUAL: job.run_when === 'manual' ? 'true' : null,
  CI_JOB_IMAGE: config.image === null ? null : config.image.name,
  CI_NODE_TOTAL: String(config.parallel?.total ?? 1),
  CI_NODE_INDEX: config.parallel === null ? null : String(config.parallel.index),
});

/** As files of old days call them. */
const oldNames = ({ pipeline, job }: Facts, values: Record<string, string>): Values => ({
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

/** Where the code is fetched, with the job's token as the password of whoever does. */
export const repositoryUrl = (base_url: string, full_path: string, token: string): string =>
  `${base_url.replace(/^(https?:\/\/)/, `$1gitlab-ci-token:${token}@`)}/${full_path}.git`;

type OfPipeline = { values: Record<string, string>; variables: JobVariable[] };

/** By pipeline, with what they were made of. */
const made = keep<number, OfPipeline & { of: string }>(50);

/** The same for all of its jobs that one user has run, and whose runners reach us by one address. */
const sharedOf = async (facts: Facts): Promise<OfPipeline> => {
  const { platform, project, pipeline, user, request, issue } = facts;
  const { db } = platform.store;
  const ref = pipelineRef(pipeline, request);
  const open_requests = ref.type === 'tag' ? '' : await openRequestsText(db, project.id, ref.name);
  const commit = await commitOf(facts);
  const { protected: isProtected, name } = pipeline;
  const of = JSON.stringify([
    project,
    user,
    request,
    open_requests,
    issue.base_url,
    isProtected,
    name,
    commit === null,
  ]);
  const known = made.get(db, pipeline.id);
  if (known?.of === of) return known;
  const values = ofPipeline(facts, ref, commit ?? lostCommit(pipeline.sha), open_requests);
  const ofServer = serverVariables(issue.base_url, platform.version);
  const all = { of, values, variables: shared([...shown(ofServer), ...shown(values)]) };
  made.set(db, pipeline.id, all);
  return all;
};

const ownVariables = (facts: Facts, ofPipeline: Record<string, string>): JobVariable[] => {
  const { project, issue } = facts;
  const { base_url, token } = issue;
  return [
    ...shown(ofJob(facts)),
    ...shown(ofRunner(facts)),
    secret('CI_JOB_TOKEN', token, true),
    secret('CI_REPOSITORY_URL', repositoryUrl(base_url, project.full_path, token), false),
    ...shown(oldNames(facts, ofPipeline)),
    secret('CI_BUILD_TOKEN', token, true),
    ...ofEnvironment(facts),
  ];
};

/** What the service says to a job, no key twice: of its pipeline, and of itself; what is secret of it hidden in logs. */
export const predefinedFor = async (facts: Facts): Promise<[JobVariable[], JobVariable[]]> => {
  const { pipeline, user, issue, together } = facts;
  const { values, variables } = await together.once(
    `pipeline ${pipeline.protected} ${user?.id} ${issue.base_url}`,
    async () => await sharedOf(facts),
  );
  return [variables, ownVariables(facts, values)];
};
