import { type Call, actorOf } from '../access/call.ts';
import { recordEvent } from '../events/record.ts';
import { requireUnmodified } from '../http/unmodified.ts';
import { enqueue } from '../queue/queue.ts';
import { type FoundMergeRequest, lockMergeRequest } from './find.ts';
import { versionWork } from './follow_version.ts';
import { writeUnlessMerging } from './merging.ts';

/**
 * Soft delete: the merge request vanishes from every read, its iid is never given again. Its branches stay.
 * @throws Failure 412 if it changed since `If-Unmodified-Since`
 */
export const deleteMergeRequest = async (
  call: Call,
  { project, merge_request: { id, iid, project_id } }: FoundMergeRequest,
): Promise<void> => {
  await writeUnlessMerging(call.platform, { id, project_id }, async (tx) => {
    const { merge_request } = await lockMergeRequest(tx, project, id);
    requireUnmodified(call.header('if-unmodified-since'), merge_request.updated_at);
    await tx.db.updateTable('merge_requests').set({ deleted_at: tx.now }).where('id', '=', id).execute();
    await tx.db.deleteFrom('merge_requests_closing_issues').where('merge_request_id', '=', id).execute();
    // Its refs go.
    await enqueue(tx, versionWork, { merge_request_id: id }, { unique_key: `${versionWork}:${id}` });
    await tx.db
      .deleteFrom('todos')
      .where('target_type', '=', 'MergeRequest')
      .where('target_id', '=', id)
      .execute();
    await recordEvent(tx, actorOf(call), {
      kind: 'merge_request.deleted',
      project_id: project.id,
      target_type: 'MergeRequest',
      target_id: id,
      data: { iid },
    });
  });
};
