/** The job record of the contract, and what newer clients read beside it. */
import type { Call } from '../access/call.ts';
import type { Commit } from '../git/protocol_types.ts';
import { array, bool, int, nullable, number, object, optional, string, timestamp } from '../http/schema.ts';
import { type Code, webUrlOf } from '../repository/code.ts';
import { commitJson, commitShape } from '../repository/commit_json.ts';
import { briefPipelineJson, briefPipelineShape, jobUrl, shownStatus } from '../repository/pipeline_brief.ts';
import { formatTime } from '../time.ts';
import { publicProfile, publicProfileShape } from '../users/json.ts';
import type { UserRow } from '../users/queries.ts';
import { type Beside, besideJobs } from './beside.ts';
import type { JobRow } from './rows.ts';
import { basicRunner, basicRunnerShape } from './runner_json.ts';

const fileShape = object({ filename: string, size: int });

const first = {
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

const newer = {
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

export const jobShape = object({ ...first, pipeline: nullable(briefPipelineShape), ...newer });

/** Of a job that starts another pipeline. */
export const bridgeShape = object({
  ...jobShape.properties,
  downstream_pipeline: nullable(briefPipelineShape),
  /** Why that was not made, as far as the caller sees where it was to be. */
  downstream_errors: array(string),
});

/** As actions answer it: without its pipeline. */
export const actedJobShape = object({ ...first, ...newer });

/** As erasing and keeping answer it. */
export const keptJobShape = object({ ...first, ...newer, download_url: optional(nullable(string)) });

const timeOrNull = (time: number | null): string | null => (time === null ? null : formatTime(time));

const secondsBetween = (from: number | null, to: number): number | null =>
  from === null ? null : Math.max(to - from, 0) / 1000;

/** One that its runner is still ending counts as canceled since it was told to. */
const endOf = ({ status, finished_at, cancelled_at }: JobRow): number | null =>
  status === 'canceling' ? (cancelled_at ?? finished_at) : finished_at;

const durationsOf = (job: JobRow, now: number) => ({
  duration: job.started_at === null ? null : secondsBetween(job.started_at, endOf(job) ?? now),
  queued_duration: secondsBetween(job.queued_at, job.started_at ?? endOf(job) ?? now),
});

const artifactsOf = ({ artifacts }: Beside, { id, trace_size }: JobRow) => [
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

type Site = Pick<Call, 'baseUrl' | 'settings' | 'now'>;

const found = <T>(all: ReadonlyMap<number, T>, id: number | null): T | null =>
  id === null ? null : (all.get(id) ?? null);

const userJson = (user: UserRow | null, site: Site) => (user === null ? null : publicProfile(user, site));

const commitOf = (commit: Commit | undefined, projectUrl: string) =>
  commit === undefined ? null : commitJson(commit, projectUrl);

const contractPart = (job: JobRow, beside: Beside, { site, projectUrl }: Place) => {
  const runner = found(beside.runners, job.runner_id);
  const archive = beside.artifacts.get(job.id)?.find(({ file_type }) => file_type === 'archive');
  const sha = beside.pipelines.get(job.pipeline_id)?.sha ?? '';
  return {
    id: job.id,
    status: shownStatus(job.status) as string,
    stage: job.stage,
    name: job.name,
    ref: job.ref,
    tag: job.tag === 1,
    coverage: job.coverage === null ? null : job.coverage / 100,
    created_at: formatTime(job.created_at),
    started_at: timeOrNull(job.started_at),
    finished_at: timeOrNull(endOf(job)),
    user: userJson(found(beside.users, job.user_id), site),
    artifacts_file: archive === undefined ? null : { filename: archive.filename, size: archive.size },
    commit: commitOf(beside.commits.get(sha), projectUrl),
    runner: runner === null ? null : basicRunner(runner, site.now),
  };
};

const newerPart = (job: JobRow, beside: Beside, { site, projectUrl }: Place) => ({
  allow_failure: job.allow_failure === 1,
  ...durationsOf(job, site.now),
  failure_reason: job.failure_reason,
  web_url: jobUrl(projectUrl, job.id),
  artifacts: artifactsOf(beside, job),
  artifacts_expire_at: timeOrNull(job.artifacts_expire_at),
  erased_at: timeOrNull(job.erased_at),
  tag_list: JSON.parse(job.tag_list) as string[],
  archived: false,
  project: { ci_job_token_scope_enabled: false },
});

type Place = { site: Site; projectUrl: string };

/** Jobs of one project, in a few questions for all of them. */
export const jobsJson = async (call: Pick<Call, 'db'> & Site, code: Code, jobs: readonly JobRow[]) => {
  const beside = await besideJobs(call, code.repository, jobs);
  const { full_path } = code.project;
  const place = { site: call, projectUrl: webUrlOf(call, code.project) };
  return jobs.map((job) => {
    const pipeline = found(beside.pipelines, job.pipeline_id);
    return {
      ...contractPart(job, beside, place),
      pipeline: pipeline === null ? null : briefPipelineJson(pipeline, { baseUrl: call.baseUrl, full_path }),
      ...newerPart(job, beside, place),
    };
  });
};

/** One job, as it is now. */
export const jobJson = async (call: Pick<Call, 'db'> & Site, code: Code, job: JobRow) => {
  const [json] = await jobsJson(call, code, [job]);
  if (json === undefined) throw new Error('no job');
  return json;
};
