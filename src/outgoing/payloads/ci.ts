/** Payloads of hooks about pipelines, jobs and deployments. */
import { toCommitTitle, toShortId } from '../../code/repository/commits/json.ts';
import { jobUrl, pipelineUrl, shownStatus } from '../../code/repository/statuses/pipeline_summary.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import { mergeRequestUrl } from '../../review/merge_requests/web_url.ts';
import type { EnvironmentFacts, JobFacts, ProjectFacts, RunnerFacts } from '../changes/snapshots/snapshot.ts';
import {
  getActor,
  placeJson,
  secondsBetween,
  userJson,
  findUser,
  getProjectUrl,
} from './shared_payload_parts.ts';
import { commitOrNull, loadCommit } from './commits.ts';
import type { Context, Payload } from './context.ts';

const runnerJson = (runner: RunnerFacts | undefined) =>
  runner === undefined
    ? null
    : {
        id: runner.id,
        description: runner.description,
        runner_type: runner.runner_type,
        active: runner.active === 1,
        is_shared: runner.runner_type === 'instance_type',
        tags: JSON.parse(runner.tag_list) as unknown,
      };

const findRunner = ({ snapshot: { records } }: Context, { runner_id }: JobFacts) =>
  runnerJson(records.runners?.find(({ id }) => id === runner_id));

const environmentJson = (
  { snapshot: { records } }: Context,
  { environment: name, environment_action }: JobFacts,
) => {
  if (name === null) return null;
  const environment = records.environments?.find((one: EnvironmentFacts) => one.name === name);
  return { name, action: environment_action ?? 'start', deployment_tier: environment?.tier ?? null };
};

const userOrNull = (context: Context, id: number | null) => {
  const user = findUser(context, id);
  return user === null ? null : userJson(context, user);
};

const buildJson = (context: Context, job: JobFacts) => ({
  id: job.id,
  stage: job.stage,
  name: job.name,
  status: shownStatus(job.status),
  created_at: formatTime(job.created_at),
  started_at: formatTimeOrNull(job.started_at),
  finished_at: formatTimeOrNull(job.finished_at),
  duration: secondsBetween(job.started_at, job.finished_at),
  queued_duration: secondsBetween(job.queued_at, job.started_at),
  failure_reason: job.failure_reason,
  when: job.run_when,
  manual: job.run_when === 'manual',
  allow_failure: job.allow_failure === 1,
  user: userOrNull(context, job.user_id),
  runner: findRunner(context, job),
  artifacts_file: { filename: job.artifact?.filename ?? null, size: job.artifact?.size ?? null },
  environment: environmentJson(context, job),
});

const requestJson = (context: Context, project: ProjectFacts) => {
  const { merge_request: request } = context.snapshot.records;
  if (request === undefined) return null;
  return {
    id: request.id,
    iid: request.iid,
    title: request.title,
    source_branch: request.source_branch,
    source_project_id: request.source_project_id,
    target_branch: request.target_branch,
    target_project_id: request.project_id,
    state: request.state,
    merge_status: request.merge_status,
    detailed_merge_status: request.detailed_merge_status ?? 'unchecked',
    url: mergeRequestUrl(context.site.baseUrl, project.full_path, request.iid),
  };
};

export const pipelinePayload = async (context: Context): Promise<Payload> => {
  const { project, records } = context.snapshot;
  const { pipeline } = records;
  if (project === null || pipeline === undefined) return {};
  const { site } = context;
  const status = shownStatus(pipeline.status);
  return {
    object_kind: 'pipeline',
    event_type: 'pipeline',
    object_attributes: {
      id: pipeline.id,
      iid: pipeline.iid,
      name: pipeline.name,
      ref: pipeline.ref,
      tag: pipeline.tag === 1,
      sha: pipeline.sha,
      before_sha: pipeline.before_sha,
      source: pipeline.source,
      status,
      detailed_status: status === 'success' ? 'passed' : status,
      stages: (records.stages ?? []).map(({ name }) => name),
      created_at: formatTime(pipeline.created_at),
      finished_at: formatTimeOrNull(pipeline.finished_at),
      duration: pipeline.duration,
      queued_duration: secondsBetween(pipeline.created_at, pipeline.started_at),
      // Values are sealed, and stay in the service.
      variables: pipeline.variables.map(({ key }) => ({ key, value: '[MASKED]' })),
      url: pipelineUrl(site.baseUrl, project.full_path, pipeline.id),
    },
    merge_request: requestJson(context, project),
    user: userJson(context, getActor(context, pipeline.user_id)),
    ...placeJson(context),
    commit: await commitOrNull(context, project, pipeline.sha),
    builds: (records.jobs ?? []).map((job) => buildJson(context, job)),
  };
};

const jobCommit = async (context: Context, project: ProjectFacts) => {
  const { pipeline } = context.snapshot.records;
  if (pipeline === undefined) return null;
  const commit = await loadCommit(context, project, pipeline.sha);
  return {
    id: pipeline.id,
    name: pipeline.name,
    sha: pipeline.sha,
    message: commit?.message ?? null,
    author_name: commit?.author.name ?? null,
    author_email: commit?.author.email ?? null,
    author_url: commit === null ? null : `mailto:${commit.author.email}`,
    status: shownStatus(pipeline.status),
    duration: pipeline.duration,
    started_at: formatTimeOrNull(pipeline.started_at),
    finished_at: formatTimeOrNull(pipeline.finished_at),
  };
};

export const jobPayload = async (context: Context): Promise<Payload> => {
  const { project, records } = context.snapshot;
  const { job, pipeline } = records;
  if (project === null || job === undefined) return {};
  return {
    object_kind: 'build',
    event_type: 'build',
    ref: job.ref,
    tag: job.tag === 1,
    before_sha: pipeline?.before_sha ?? null,
    sha: pipeline?.sha ?? null,
    retries_count: job.retries_count,
    build_id: job.id,
    build_name: job.name,
    build_stage: job.stage,
    build_status: shownStatus(job.status),
    build_created_at: formatTime(job.created_at),
    build_started_at: formatTimeOrNull(job.started_at),
    build_finished_at: formatTimeOrNull(job.finished_at),
    build_duration: secondsBetween(job.started_at, job.finished_at),
    build_queued_duration: secondsBetween(job.queued_at, job.started_at),
    build_allow_failure: job.allow_failure === 1,
    build_failure_reason: job.failure_reason ?? 'unknown_failure',
    pipeline_id: job.pipeline_id,
    runner: findRunner(context, job),
    project_id: project.id,
    project_name: `${project.namespace_name} / ${project.name}`,
    user: userJson(context, getActor(context, job.user_id)),
    commit: await jobCommit(context, project),
    ...placeJson(context),
    environment: environmentJson(context, job),
  };
};

export const deploymentPayload = async (context: Context): Promise<Payload> => {
  const { project, records, at } = context.snapshot;
  const { deployment, environment } = records;
  if (project === null || deployment === undefined) return {};
  const web = getProjectUrl(context, project);
  const commit = await loadCommit(context, project, deployment.sha);
  const user = getActor(context, deployment.user_id);
  return {
    object_kind: 'deployment',
    event_type: 'deployment',
    status: deployment.status,
    status_changed_at: formatTime(at),
    deployment_id: deployment.id,
    deployable_id: deployment.job_id,
    deployable_url: deployment.job_id === null ? null : jobUrl(web, deployment.job_id),
    environment: environment?.name ?? null,
    environment_tier: environment?.tier ?? null,
    environment_slug: environment?.slug ?? null,
    environment_external_url: environment?.external_url ?? null,
    ...placeJson(context),
    user: userJson(context, user),
    user_url: `${context.site.baseUrl}/${user.username}`,
    short_sha: toShortId(deployment.sha),
    commit_url: `${web}/-/commit/${deployment.sha}`,
    commit_title: commit === null ? null : toCommitTitle(commit.message),
    ref: deployment.ref,
  };
};
