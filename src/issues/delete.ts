import { type Call, actorOf } from '../access/call.ts';
import { preconditionFailed } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { parseHttpDate } from '../time.ts';
import { countIssue } from './counters.ts';
import { type FoundIssue, lockIssue } from './find.ts';

const wholeSeconds = (ms: number): number => Math.floor(ms / 1000);

/** Whether the record changed after the time that the client saw; a header that does not parse says nothing. */
const changedSince = (header: string | undefined, updatedAt: number): boolean => {
  const seen = header === undefined ? null : parseHttpDate(header);
  return seen !== null && wholeSeconds(updatedAt) > wholeSeconds(seen);
};

/**
 * Soft delete: the issue vanishes from every read, its iid is never given again.
 * @throws Failure 412 if it changed since `If-Unmodified-Since`
 */
export const deleteIssue = async (call: Call, { project, issue }: FoundIssue): Promise<void> => {
  await call.write(async (tx) => {
    const locked = await lockIssue(tx, project, issue.id);
    if (changedSince(call.header('if-unmodified-since'), locked.issue.updated_at)) throw preconditionFailed();
    await tx.db.updateTable('issues').set({ deleted_at: tx.now }).where('id', '=', issue.id).execute();
    await countIssue(tx, project.id, locked.issue, null);
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
