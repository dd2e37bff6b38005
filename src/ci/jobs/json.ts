/** The JSON of jobs: the fields of the contract, and later fields that newer clients read. */
import type { Call } from '../../core/access/call.ts';
import type { Commit } from '../../platform/git/protocol_types.ts';
import {
  array,
  bool,
  int,
  nullable,
  number,
  object,
  optional,
  string,
  timestamp,
} from '../../platform/http/schema.ts';
import { type Code, getWebUrl } from '../../code/repository/find_code.ts';
import { commitJson, commitShape } from '../../code/repository/commits/json.ts';
import {
  briefPipelineJson,
  briefPipelineShape,
  jobUrl,
  shownStatus,
} from '../../code/repository/statuses/pipeline_summary.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import { publicProfile, publicProfileShape } from '../../identity/users/json.ts';
import type { UserRow } from '../../identity/users/queries.ts';
import { type JobRelations, loadJobRelations } from './load_relations.ts';
import type { JobRow } from './rows.ts';
import { basicRunner, basicRunnerShape } from './runner_json.ts';

const fileShape = object({ filename: string, size: int });

const contractFields = {
  id: int,
  status: string,
  stage: string,
  name: string,
  ref: string,
  tag: bool,
  coverage: nullable(number),
  created_at: timestamp,
  started_at: nullable(timestamp),
  finished_at: nullable(timestamp),
  user: nullable(publicProfileShape),
  artifacts_file: nullable(fileShape),
  commit: nullable(commitShape),
  runner: nullable(basicRunnerShape),
};

const laterFields = {
  allow_failure: bool,
  duration: nullable(number),
  queued_duration: nullable(number),
  failure_reason: nullable(string),
  web_url: string,
  artifacts: array(object({ file_type: string, size: int, filename: string, file_format: string })),
  artifacts_expire_at: nullable(timestamp),
  erased_at: nullable(timestamp),
  tag_list: array(string),
  archived: bool,
  project: object({ ci_job_token_scope_enabled: bool }),
};

export const jobShape = object({ ...contractFields, pipeline: nullable(briefPipelineShape), ...laterFields });

/** A trigger job. */
export const bridgeShape = object({
  ...jobShape.properties,
  downstream_pipeline: nullable(briefPipelineShape),
  /** Reasons why no pipeline was created. Empty if the caller cannot read the target project. */
  downstream_errors: array(string),
});

/** The reply of actions, without the pipeline. */
export const jobActionShape = object({ ...contractFields, ...laterFields });

/** The reply of erasing a job and of keeping its artifacts. */
export const jobArtifactsShape = object({
  ...contractFields,
  ...laterFields,
  download_url: optional(nullable(string)),
});

const secondsBetween = (from: number | null, to: number): number | null =>
  from === null ? null : Math.max(to - from, 0) / 1000;

/** Returns the end time. A job that is being canceled counts as ended since the cancellation. */
const getEndTime = ({ status, finished_at, cancelled_at }: JobRow): number | null =>
  status === 'canceling' ? (cancelled_at ?? finished_at) : finished_at;

const getDurations = (job: JobRow, now: number) => ({
  duration: job.started_at === null ? null : secondsBetween(job.started_at, getEndTime(job) ?? now),
  queued_duration: secondsBetween(job.queued_at, job.started_at ?? getEndTime(job) ?? now),
});

const listArtifacts = ({ artifacts }: JobRelations, { id, trace_size }: JobRow) => [
  ...(artifacts.get(id) ?? []).map(({ file_type, size, filename, file_format }) => ({
    file_type,
    size,
    filename,
    file_format,
  })),
  ...(trace_size === null
    ? []
    : [{ file_type: 'trace', size: trace_size, filename: 'job.log', file_format: 'raw' }]),
];

type JsonContext = Pick<Call, 'baseUrl' | 'settings' | 'now'>;

const findById = <T>(all: ReadonlyMap<number, T>, id: number | null): T | null =>
  id === null ? null : (all.get(id) ?? null);

const userJson = (user: UserRow | null, context: JsonContext) =>
  user === null ? null : publicProfile(user, context);

const toCommitJson = (commit: Commit | undefined, projectUrl: string) =>
  commit === undefined ? null : commitJson(commit, projectUrl);

const toContractFields = (job: JobRow, relations: JobRelations, { context, projectUrl }: JobLinks) => {
  const runner = findById(relations.runners, job.runner_id);
  const archive = relations.artifacts.get(job.id)?.find(({ file_type }) => file_type === 'archive');
  const sha = relations.pipelines.get(job.pipeline_id)?.sha ?? '';
  return {
    id: job.id,
    status: shownStatus(job.status) as string,
    stage: job.stage,
    name: job.name,
    ref: job.ref,
    tag: job.tag === 1,
    coverage: job.coverage === null ? null : job.coverage / 100,
    created_at: formatTime(job.created_at),
    started_at: formatTimeOrNull(job.started_at),
    finished_at: formatTimeOrNull(getEndTime(job)),
    user: userJson(findById(relations.users, job.user_id), context),
    artifacts_file: archive === undefined ? null : { filename: archive.filename, size: archive.size },
    commit: toCommitJson(relations.commits.get(sha), projectUrl),
    runner: runner === null ? null : basicRunner(runner, context.now),
  };
};

const toLaterFields = (job: JobRow, relations: JobRelations, { context, projectUrl }: JobLinks) => ({
  allow_failure: job.allow_failure === 1,
  ...getDurations(job, context.now),
  failure_reason: job.failure_reason,
  web_url: jobUrl(projectUrl, job.id),
  artifacts: listArtifacts(relations, job),
  artifacts_expire_at: formatTimeOrNull(job.artifacts_expire_at),
  erased_at: formatTimeOrNull(job.erased_at),
  tag_list: JSON.parse(job.tag_list) as string[],
  archived: false,
  project: { ci_job_token_scope_enabled: false },
});

type JobLinks = { context: JsonContext; projectUrl: string };

/** Converts jobs of one project. Loads relations in a constant number of queries. */
export const jobsJson = async (call: Pick<Call, 'db'> & JsonContext, code: Code, jobs: readonly JobRow[]) => {
  const relations = await loadJobRelations(call, code.repository, jobs);
  const { full_path } = code.project;
  const place = { context: call, projectUrl: getWebUrl(call, code.project) };
  return jobs.map((job) => {
    const pipeline = findById(relations.pipelines, job.pipeline_id);
    return {
      ...toContractFields(job, relations, place),
      pipeline: pipeline === null ? null : briefPipelineJson(pipeline, { baseUrl: call.baseUrl, full_path }),
      ...toLaterFields(job, relations, place),
    };
  });
};

export const jobJson = async (call: Pick<Call, 'db'> & JsonContext, code: Code, job: JobRow) => {
  const [json] = await jobsJson(call, code, [job]);
  if (json === undefined) throw new Error('no job');
  return json;
};
