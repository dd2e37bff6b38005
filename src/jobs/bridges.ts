/** Jobs that start other pipelines, with those as far as they are for the caller to see. */
import type { Call } from '../access/call.ts';
import { may } from '../access/may.ts';
import { canSeeProject } from '../access/visible.ts';
import { projectsById } from '../projects/find.ts';
import type { Code } from '../repository/code.ts';
import { type PipelineRow, briefPipelineJson } from '../repository/pipeline_brief.ts';
import { jobsJson } from './json.ts';
import type { JobRow } from './rows.ts';

type Started = PipelineRow & { full_path: string };

/** By the id of the job. */
const startedBy = async (
  { db, viewer }: Call,
  jobs: readonly JobRow[],
): Promise<Map<number | null, Started>> => {
  if (jobs.length === 0) return new Map();
  const ids = jobs.map(({ id }) => id);
  const pipelines = await db.selectFrom('pipelines').selectAll().where('source_job_id', 'in', ids).execute();
  if (pipelines.length === 0) return new Map();
  const projects = await projectsById(db, [...new Set(pipelines.map(({ project_id }) => project_id))]);
  const shown = pipelines.flatMap((pipeline): [number | null, Started][] => {
    const project = projects.get(pipeline.project_id);
    if (project === undefined || project.deleted_at !== null) return [];
    const isSeen = canSeeProject(viewer, project) && may(viewer, 'read_pipeline', project);
    return isSeen ? [[pipeline.source_job_id, { ...pipeline, full_path: project.full_path }]] : [];
  });
  return new Map(shown);
};

export const bridgesJson = async (call: Call, code: Code, jobs: readonly JobRow[]) => {
  const [shown, started] = await Promise.all([jobsJson(call, code, jobs), startedBy(call, jobs)]);
  return shown.map((job) => {
    const pipeline = started.get(job.id);
    const { baseUrl } = call;
    const downstream_pipeline =
      pipeline === undefined ? null : briefPipelineJson(pipeline, { baseUrl, full_path: pipeline.full_path });
    return { ...job, downstream_pipeline };
  });
};
