import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import { type LoadedMergeRequest, lockMergeRequest } from './find.ts';
import { versionWork } from './versions/follow_version.ts';
import { writeUnlessMerging } from './merging/merge_lock.ts';

/**
 * Soft-deletes a merge request: reads no longer find it, and its iid is never reused. Its branches remain.
 * @throws Failure 412 if it changed since `If-Unmodified-Since`
 */
export const deleteMergeRequest = async (
  call: Call,
  { project, merge_request: { id, iid, project_id } }: LoadedMergeRequest,
): Promise<void> => {
  await writeUnlessMerging(call.platform, { id, project_id }, async (tx) => {
    const { merge_request } = await lockMergeRequest(tx, project, id);
    requireUnmodified(call.header('if-unmodified-since'), merge_request.updated_at);
    await tx.db.updateTable('merge_requests').set({ deleted_at: tx.now }).where('id', '=', id).execute();
    await tx.db.deleteFrom('merge_requests_closing_issues').where('merge_request_id', '=', id).execute();
    // Removes its refs.
    await enqueue(tx, versionWork, { merge_request_id: id }, { unique_key: `${versionWork}:${id}` });
    await tx.db
      .deleteFrom('todos')
      .where('target_type', '=', 'MergeRequest')
      .where('target_id', '=', id)
      .execute();
    await recordEvent(tx, requireActor(call), {
      kind: 'merge_request.deleted',
      project_id: project.id,
      target_type: 'MergeRequest',
      target_id: id,
      data: { iid },
    });
  });
};
