/** What follows a new version of a request, whatever made it, and its deletion: nobody waits for it, and it may be done twice. */
import type { Platform } from '../access/call.ts';
import { moveDiscussionPositions } from '../discussions/move_positions.ts';
import { loadProject } from '../projects/find.ts';
import { writeHeadRef } from './head_ref.ts';

/** Background work: payload `{ merge_request_id }`. */
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
