import { type Call, actorOf } from '../access/call.ts';
import { recordEvent } from '../events/record.ts';
import { requireUnmodified } from '../http/unmodified.ts';
import { type Owner, renewLists } from '../labels/owner.ts';
import { findMilestone } from './queries.ts';

/**
 * Deletes a milestone of the owner's own; what carried it has none then.
 * @throws Failure 404 for one of another owner, 412 if it changed since `If-Unmodified-Since`
 */
export const deleteMilestone = async (call: Call, owner: Owner, id: number): Promise<void> => {
  await call.write(async (tx) => {
    const row = await findMilestone(tx.db, owner, id);
    requireUnmodified(call.header('if-unmodified-since'), row.updated_at);
    // What carries it is locked before the milestone is, as by every edit.
    for (const table of ['merge_requests', 'issues'] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
      await tx.db.updateTable(table).set({ milestone_id: null }).where('milestone_id', '=', id).execute();
    }
    await tx.db.deleteFrom('milestones').where('id', '=', id).execute();
    await recordEvent(tx, actorOf(call), {
      kind: 'milestone.deleted',
      project_id: row.project_id,
      target_type: 'Milestone',
      target_id: id,
      data: { title: row.title, iid: row.iid, ...(row.group_id !== null && { group_id: row.group_id }) },
    });
    await renewLists(tx, owner);
  });
};
