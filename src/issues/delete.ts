import { type Call, actorOf } from '../access/call.ts';
import { recordEvent } from '../events/record.ts';
import { requireUnmodified } from '../http/unmodified.ts';
import { type FoundIssue, lockIssue } from './find.ts';

/**
 * Soft delete: the issue vanishes from every read, its iid is never given again.
 * @throws Failure 412 if it changed since `If-Unmodified-Since`
 */
export const deleteIssue = async (call: Call, { project, issue }: FoundIssue): Promise<void> => {
  await call.write(async (tx) => {
    const locked = await lockIssue(tx, project, issue.id, 'Issue');
    requireUnmodified(call.header('if-unmodified-since'), locked.issue.updated_at);
    await tx.db.updateTable('issues').set({ deleted_at: tx.now }).where('id', '=', issue.id).execute();
    await tx.db
      .deleteFrom('todos')
      .where('target_type', '=', 'Issue')
      .where('target_id', '=', issue.id)
      .execute();
    await recordEvent(tx, actorOf(call), {
      kind: 'issue.deleted',
      project_id: project.id,
      target_type: 'Issue',
      target_id: issue.id,
      data: { iid: issue.iid },
    });
  });
};
