/** The JSON of trigger jobs, with downstream pipelines that the caller can read. */
import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import type { Reader } from '../../platform/db/open.ts';
import { creationFailed } from '../pipelines/downstream/resolve_target.ts';
import type { DownstreamErrors } from '../pipelines/downstream/start_downstream.ts';
import { projectsById } from '../../projects/projects/find.ts';
import type { Code } from '../../code/repository/find_code.ts';
import { type PipelineRow, briefPipelineJson } from '../../code/repository/statuses/pipeline_summary.ts';
import { jobsJson } from './json.ts';
import type { JobRow } from './rows.ts';

type DownstreamPipeline = PipelineRow & { full_path: string };

/** A job's downstream pipeline, and the errors if its creation failed. */
type BridgeFacts = { pipeline: DownstreamPipeline | null; errors: string[] };

type Projects = Awaited<ReturnType<typeof projectsById>>;

/** Returns the projects whose pipelines the caller can read. */
const filterReadable = async ({ db, viewer }: Requester, ids: readonly number[]): Promise<Projects> => {
  const projects = ids.length === 0 ? new Map() : await projectsById(db, [...new Set(ids)]);
  return new Map([...projects].filter(([, project]) => may(viewer, 'read_pipeline', project)));
};

type Requester = Pick<Call, 'db' | 'viewer'>;

const loadCreationErrors = async (db: Reader, jobs: readonly JobRow[]) => {
  const ids = jobs.filter(({ failure_reason }) => failure_reason === creationFailed).map(({ id }) => id);
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('jobs')
    .select(['id', 'downstream_errors'])
    .where('id', 'in', ids)
    .execute();
  return rows.flatMap(({ id, downstream_errors: text }) =>
    text === null ? [] : [{ id, ...(JSON.parse(text) as DownstreamErrors) }],
  );
};

const toConfigErrors = ({ failure_reason }: JobRow, pipeline: PipelineRow | undefined): string[] =>
  failure_reason === creationFailed ? (pipeline?.yaml_errors?.split('\n') ?? []) : [];

/** Loads downstream pipelines and errors by job id, limited to projects that the caller can read. */
const loadBridgeFacts = async (
  requester: Requester,
  jobs: readonly JobRow[],
): Promise<ReadonlyMap<number, BridgeFacts>> => {
  const { db } = requester;
  const ids = jobs.map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const pipelines = await db.selectFrom('pipelines').selectAll().where('source_job_id', 'in', ids).execute();
  const failures = await loadCreationErrors(db, jobs);
  const projects = await filterReadable(
    requester,
    [...pipelines, ...failures].map((one) => one.project_id),
  );
  const onlyReadable = <T extends { project_id: number }>(all: T[]): T[] =>
    all.filter((one) => projects.has(one.project_id));
  const started = new Map(onlyReadable(pipelines).map((pipeline) => [pipeline.source_job_id, pipeline]));
  const creationErrors = new Map(onlyReadable(failures).map(({ id, errors }) => [id, errors]));
  return new Map(
    jobs.map((job) => {
      const pipeline = started.get(job.id);
      const full_path = projects.get(pipeline?.project_id ?? 0)?.full_path ?? '';
      const errors = creationErrors.get(job.id) ?? toConfigErrors(job, pipeline);
      return [job.id, { pipeline: pipeline === undefined ? null : { ...pipeline, full_path }, errors }];
    }),
  );
};

export const triggerJobsJson = async (call: Call, code: Code, jobs: readonly JobRow[]) => {
  const { baseUrl } = call;
  const [jobsAsJson, facts] = await Promise.all([jobsJson(call, code, jobs), loadBridgeFacts(call, jobs)]);
  return jobsAsJson.map((job) => {
    const { pipeline = null, errors = [] } = facts.get(job.id) ?? {};
    const downstream_pipeline =
      pipeline === null ? null : briefPipelineJson(pipeline, { baseUrl, full_path: pipeline.full_path });
    return { ...job, downstream_pipeline, downstream_errors: errors };
  });
};
