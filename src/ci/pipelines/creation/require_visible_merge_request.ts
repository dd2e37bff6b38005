/** Authorizes running the jobs of a merge request that targets another project. */
import type { Call } from '../../../core/access/call.ts';
import { canSeeMergeRequests } from '../../../core/access/visible.ts';
import { forbidden } from '../../../platform/errors.ts';

/**
 * Requires that the caller can see the pipeline's merge request. Jobs read its data when they start and expose it in
 * their logs, so only users who can see it may retry or play them.
 * @throws Failure 403
 */
export const requireVisibleRequest = async (
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
