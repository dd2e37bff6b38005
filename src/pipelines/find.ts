import type { Call } from '../access/call.ts';
import type { ProjectAction } from '../access/may.ts';
import type { Reader } from '../db/open.ts';
import { notFound } from '../errors.ts';
import { type Project, findProjectFor } from '../projects/find.ts';
import type { PipelineRow } from '../repository/pipeline_brief.ts';

/** A pipeline of the project; null: it has none of this id. */
export const pipelineOf = async (db: Reader, projectId: number, id: number): Promise<PipelineRow | null> =>
  (await db
    .selectFrom('pipelines')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst()) ?? null;

export type FoundPipeline = { project: Project; pipeline: PipelineRow };

/**
 * @throws Failure 404 where the caller does not see the project or there is no such pipeline, 403 where he may not do
 * this in it
 */
export const findPipeline = async (
  call: Call,
  projectId: number | string,
  id: number,
  action: ProjectAction = 'read_pipeline',
): Promise<FoundPipeline> => {
  const project = await findProjectFor(call, projectId, action);
  const pipeline = await pipelineOf(call.db, project.id, id);
  if (pipeline === null) throw notFound();
  return { project, pipeline };
};
