import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { type Owner, renewLists } from '../project_or_group/owner.ts';
import { findMilestone } from './queries.ts';

/**
 * Deletes a milestone of the owner and clears it from its records.
 * @throws Failure 404 for one of another owner, 412 if it changed since `If-Unmodified-Since`
 */
export const deleteMilestone = async (call: Call, owner: Owner, id: number): Promise<void> => {
  await call.write(async (tx) => {
    const row = await findMilestone(tx.db, owner, id);
    requireUnmodified(call.header('if-unmodified-since'), row.updated_at);
    // Locks the records before the milestone, as every edit does.
    for (const table of ['merge_requests', 'issues'] as const) {
      await tx.db.updateTable(table).set({ milestone_id: null }).where('milestone_id', '=', id).execute();
    }
    await tx.db.deleteFrom('milestones').where('id', '=', id).execute();
    await recordEvent(tx, requireActor(call), {
      kind: 'milestone.deleted',
      project_id: row.project_id,
      target_type: 'Milestone',
      target_id: id,
      data: { title: row.title, iid: row.iid, ...(row.group_id !== null && { group_id: row.group_id }) },
    });
    await renewLists(tx, owner);
  });
};
