/** Who has the jobs of a merge request run that goes into another project. */
import type { Call } from '../access/call.ts';
import { canSeeMergeRequests } from '../access/visible.ts';
import { forbidden } from '../errors.ts';

/**
 * Jobs are told what their request is by the time they start, and tell it to who reads their logs: they are run again,
 * or played, by those who see it.
 * @throws Failure 403
 */
export const requireSeenRequest = async (
  { db, viewer }: Pick<Call, 'db' | 'viewer'>,
  pipelineId: number,
): Promise<void> => {
  const target = await db
    .selectFrom('pipelines')
    .innerJoin('merge_requests', 'merge_requests.id', 'pipelines.merge_request_id')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select([
      'projects.id',
      'projects.namespace_id',
      'projects.visibility',
      'projects.deleted_at',
      'projects.repository_access_level',
      'projects.merge_requests_access_level',
    ])
    .where('pipelines.id', '=', pipelineId)
    .whereRef('projects.id', '<>', 'pipelines.project_id')
    .where('projects.deleted_at', 'is', null)
    .where('merge_requests.deleted_at', 'is', null)
    .executeTakeFirst();
  if (target !== undefined && !canSeeMergeRequests(viewer, target)) throw forbidden();
};
