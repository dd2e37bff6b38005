/** Jobs that start other pipelines, with those as far as they are for the caller to see. */
import type { Call } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Reader } from '../db/open.ts';
import { creationFailed } from '../pipelines/downstream_target.ts';
import type { DownstreamErrors } from '../pipelines/start_downstream.ts';
import { projectsById } from '../projects/find.ts';
import type { Code } from '../repository/code.ts';
import { type PipelineRow, briefPipelineJson } from '../repository/pipeline_brief.ts';
import { jobsJson } from './json.ts';
import type { JobRow } from './rows.ts';

type Started = PipelineRow & { full_path: string };

/** Of one job: the pipeline that it has started, and what is said of it where there is none that runs. */
type BridgeFacts = { pipeline: Started | null; errors: string[] };

type Projects = Awaited<ReturnType<typeof projectsById>>;

/** Those of the projects whose pipelines the caller reads. */
const readable = async ({ db, viewer }: Asking, ids: readonly number[]): Promise<Projects> => {
  const found = ids.length === 0 ? new Map() : await projectsById(db, [...new Set(ids)]);
  return new Map([...found].filter(([, project]) => may(viewer, 'read_pipeline', project)));
};

type Asking = Pick<Call, 'db' | 'viewer'>;

const refusalsOf = async (db: Reader, jobs: readonly JobRow[]) => {
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

const faultsOf = ({ failure_reason }: JobRow, pipeline: PipelineRow | undefined): string[] =>
  failure_reason === creationFailed ? (pipeline?.yaml_errors?.split('\n') ?? []) : [];

/** By the id of the job; told is what the caller sees of other projects. */
const bridgeFacts = async (
  asking: Asking,
  jobs: readonly JobRow[],
): Promise<ReadonlyMap<number, BridgeFacts>> => {
  const { db } = asking;
  const ids = jobs.map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const pipelines = await db.selectFrom('pipelines').selectAll().where('source_job_id', 'in', ids).execute();
  const refusals = await refusalsOf(db, jobs);
  const projects = await readable(
    asking,
    [...pipelines, ...refusals].map((one) => one.project_id),
  );
  const seen = <T extends { project_id: number }>(all: T[]): T[] =>
    all.filter((one) => projects.has(one.project_id));
  const started = new Map(seen(pipelines).map((pipeline) => [pipeline.source_job_id, pipeline]));
  const told = new Map(seen(refusals).map(({ id, errors }) => [id, errors]));
  return new Map(
    jobs.map((job) => {
      const pipeline = started.get(job.id);
      const full_path = projects.get(pipeline?.project_id ?? 0)?.full_path ?? '';
      const errors = told.get(job.id) ?? faultsOf(job, pipeline);
      return [job.id, { pipeline: pipeline === undefined ? null : { ...pipeline, full_path }, errors }];
    }),
  );
};

export const bridgesJson = async (call: Call, code: Code, jobs: readonly JobRow[]) => {
  const { baseUrl } = call;
  const [shown, facts] = await Promise.all([jobsJson(call, code, jobs), bridgeFacts(call, jobs)]);
  return shown.map((job) => {
    const { pipeline = null, errors = [] } = facts.get(job.id) ?? {};
    const downstream_pipeline =
      pipeline === null ? null : briefPipelineJson(pipeline, { baseUrl, full_path: pipeline.full_path });
    return { ...job, downstream_pipeline, downstream_errors: errors };
  });
};
