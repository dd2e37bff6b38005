import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type Owner, ownerColumns } from '../project_or_group/owner.ts';
import type { MilestoneRow } from './json.ts';
import { findMilestone, isTitleTaken, milestonesTurn, takeMilestoneIid } from './queries.ts';
import { checkDates, checkMilestoneTitle, titleTaken } from './rules.ts';

export type NewMilestone = {
  title: string;
  description: string | null;
  start_date: string | null;
  due_date: string | null;
};

/**
 * Creates a milestone of a project or group.
 * @throws Failure 400 for an invalid title or dates, or a taken title
 */
export const createMilestone = async (
  call: Call,
  owner: Owner,
  input: NewMilestone,
): Promise<MilestoneRow> => {
  const title = checkMilestoneTitle(input.title);
  checkDates(input);
  return await call.write(async (tx) => {
    const iid = await takeMilestoneIid(tx, owner);
    if (await isTitleTaken(tx.db, owner, title, 0)) throw titleTaken();
    const { description, start_date, due_date } = input;
    const row = await tx.db
      .insertInto('milestones')
      .values({
        ...ownerColumns(owner),
        iid,
        title,
        description,
        start_date,
        due_date,
        state: 'active',
        created_at: tx.now,
        updated_at: tx.now,
      })
      .returning(['id', 'project_id', 'group_id'])
      .executeTakeFirstOrThrow();
    await recordEvent(tx, requireActor(call), {
      kind: 'milestone.created',
      project_id: row.project_id,
      target_type: 'Milestone',
      target_id: row.id,
      data: { title, iid, ...(row.group_id !== null && { group_id: row.group_id }) },
    });
    return await findMilestone(tx.db, owner, row.id);
  }, milestonesTurn(owner));
};
