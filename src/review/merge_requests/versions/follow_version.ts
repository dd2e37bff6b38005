/** Background work after a new version of a request, or after its deletion. Idempotent. */
import type { Platform } from '../../../core/platform.ts';
import { moveDiscussionPositions } from '../../../planning/discussions/move_positions.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { writeHeadRef } from './head_ref.ts';

/** The kind of work; its payload is `{ merge_request_id }`. */
export const versionWork = 'merge_requests.version';

export const followVersion = async (platform: Platform, mergeRequestId: number): Promise<void> => {
  const { db } = platform.store;
  await writeHeadRef(platform, mergeRequestId);
  const row = await db
    .selectFrom('merge_requests')
    .select('project_id')
    .where('id', '=', mergeRequestId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  const project = row === undefined ? null : await loadProject(db, row.project_id);
  if (project !== null) await moveDiscussionPositions(platform, project, mergeRequestId);
};
