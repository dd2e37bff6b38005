/** Moves a project's milestone into the project's group, with the milestones of the same title below the group. */
import { sql } from 'kysely';
import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import type { Tx } from '../../platform/db/open.ts';
import {
  type Owner,
  availableTo,
  ownerTurn,
  renewLists,
  selectProjectsBelow,
} from '../project_or_group/owner.ts';
import type { MilestoneRow } from './json.ts';
import { findMilestone, takeMilestoneIid } from './queries.ts';
import { titleTaken } from './rules.ts';

/** @throws Failure 400 if a group in the line of the group, above or below, has a milestone of this title */
const requireFreeTitle = async (tx: Tx, group: Owner, title: string): Promise<void> => {
  const taken = await tx.db
    .selectFrom('milestones')
    .select('id')
    .where('title', '=', title)
    .where(availableTo('milestones', group))
    .limit(1)
    .executeTakeFirst();
  if (taken !== undefined) throw titleTaken();
};

const findSameTitle = async (tx: Tx, group: Owner, { id, title }: MilestoneRow): Promise<number[]> => {
  const rows = await tx.db
    .selectFrom('milestones')
    .select('id')
    .where('title', '=', title)
    .where('id', '<>', id)
    .where('project_id', 'in', selectProjectsBelow(group))
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
};

/** Gives the records of other milestones to one milestone, and deletes the others. */
const mergeInto = async (tx: Tx, milestoneId: number, others: number[]): Promise<void> => {
  const isOther = tx.dialect.oneOf('milestone_id', others);
  // Locks the records before the milestones, as every edit does.
  for (const table of ['merge_requests', 'issues', 'resource_events', 'boards'] as const) {
    await tx.db.updateTable(table).set({ milestone_id: milestoneId }).where(isOther).execute();
  }
  await sql`update board_lists set milestone_id = ${milestoneId}
    where ${isOther} and board_id not in (select board_id from board_lists where milestone_id = ${milestoneId})`.execute(
    tx.db,
  );
  await sql`insert into release_milestones (release_id, milestone_id)
    select release_id, ${milestoneId} from release_milestones where ${isOther}
    on conflict do nothing`.execute(tx.db);
  await sql`delete from release_milestones where ${isOther}`.execute(tx.db);
  await sql`delete from milestones where ${tx.dialect.oneOf('id', others)}`.execute(tx.db);
};

/**
 * Promotes a project's milestone: it becomes one of the group, with the group's next iid, keeps its id, and replaces
 * the milestones of the same title in all projects below the group.
 * @throws Failure 404 for one of another owner, 400 if the group or one above has a milestone of this title
 */
export const promoteMilestone = async (
  call: Call,
  { project, group }: { project: Owner; group: Owner },
  id: number,
): Promise<MilestoneRow> =>
  await call.write(async (tx) => {
    const iid = await takeMilestoneIid(tx, group);
    const row = await findMilestone(tx.db, project, id);
    await requireFreeTitle(tx, group, row.title);
    const others = await findSameTitle(tx, group, row);
    if (others.length > 0) await mergeInto(tx, id, others);
    const moved = { project_id: null, group_id: group.id, iid, updated_at: tx.now };
    await tx.db.updateTable('milestones').set(moved).where('id', '=', id).execute();
    await recordEvent(tx, requireActor(call), {
      kind: 'milestone.updated',
      project_id: row.project_id,
      target_type: 'Milestone',
      target_id: id,
      data: { group_id: [null, group.id], iid: [row.iid, iid] },
    });
    await renewLists(tx, group);
    return await findMilestone(tx.db, group, id);
  }, ownerTurn(group));
