import type { Call } from '../../core/access/call.ts';
import type { ProjectAction } from '../../core/access/may.ts';
import type { Reader } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import { type Project, findProjectFor } from '../../projects/projects/find.ts';
import type { PipelineRow } from '../../code/repository/statuses/pipeline_summary.ts';

/** Loads a pipeline of the project; null if the id does not exist. */
export const pipelinesOfProject = async (
  db: Reader,
  projectId: number,
  id: number,
): Promise<PipelineRow | null> =>
  (await db
    .selectFrom('pipelines')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst()) ?? null;

export type LoadedPipeline = { project: Project; pipeline: PipelineRow };

/**
 * Finds a pipeline and checks the caller's permission.
 * @throws Failure 404 if the project is hidden or has no such pipeline, 403 without the permission
 */
export const findPipeline = async (
  call: Call,
  projectId: number | string,
  id: number,
  action: ProjectAction = 'read_pipeline',
): Promise<LoadedPipeline> => {
  const project = await findProjectFor(call, projectId, action);
  const pipeline = await pipelinesOfProject(call.db, project.id, id);
  if (pipeline === null) throw notFound();
  return { project, pipeline };
};
