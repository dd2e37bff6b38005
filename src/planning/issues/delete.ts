import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { type LoadedIssue, lockIssue } from './find.ts';

/**
 * Deletes an issue softly: no read returns it any more, and its iid is never reused.
 * @throws Failure 412 if it changed since `If-Unmodified-Since`
 */
export const deleteIssue = async (call: Call, { project, issue }: LoadedIssue): Promise<void> => {
  await call.write(async (tx) => {
    const locked = await lockIssue(tx, project, issue.id, 'Issue');
    requireUnmodified(call.header('if-unmodified-since'), locked.issue.updated_at);
    await tx.db.updateTable('issues').set({ deleted_at: tx.now }).where('id', '=', issue.id).execute();
    await tx.db
      .deleteFrom('todos')
      .where('target_type', '=', 'Issue')
      .where('target_id', '=', issue.id)
      .execute();
    await recordEvent(tx, requireActor(call), {
      kind: 'issue.deleted',
      project_id: project.id,
      target_type: 'Issue',
      target_id: issue.id,
      data: { iid: issue.iid },
    });
  });
};
