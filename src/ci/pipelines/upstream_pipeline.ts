/** Loads the pipeline that started another one. */
import type { Call } from '../../core/access/call.ts';
import { readablePipelines } from '../../core/access/visible.ts';
import type { Pipeline } from './pipeline_rows.ts';

export type UpstreamPipeline = { id: number; project_id: number; full_path: string; job: string | null };

/** Returns the upstream pipeline and its trigger job; null if there is none that the caller may read. */
export const loadUpstreamPipeline = async (
  { db, viewer, platform }: Pick<Call, 'db' | 'viewer' | 'platform'>,
  { source_pipeline_id, source_job_id }: Pick<Pipeline, 'source_pipeline_id' | 'source_job_id'>,
): Promise<UpstreamPipeline | null> => {
  if (source_pipeline_id === null) return null;
  const row = await db
    .selectFrom('pipelines')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .leftJoin('jobs', (join) => join.on('jobs.id', '=', source_job_id))
    .select(['pipelines.id', 'pipelines.project_id', 'projects.full_path', 'jobs.name as job'])
    .where('pipelines.id', '=', source_pipeline_id)
    .where(readablePipelines(viewer, platform.store.dialect))
    .executeTakeFirst();
  return row ?? null;
};
