import { type Call, requireActor } from '../../core/access/call.ts';
import type { Checked } from '../../platform/http/precondition.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type Owner, renewLists } from '../project_or_group/owner.ts';
import type { MilestoneRow } from './json.ts';
import { findMilestone, isTitleTaken, lockMilestones } from './queries.ts';
import { checkDates, checkMilestoneTitle, titleTaken } from './rules.ts';

export type MilestoneEdit = {
  title?: string;
  description?: string | null;
  start_date?: string | null;
  due_date?: string | null;
  state_event?: 'close' | 'activate';
};

type Values = Pick<MilestoneRow, 'title' | 'description' | 'start_date' | 'due_date' | 'state'>;

const names = ['title', 'description', 'start_date', 'due_date', 'state'] as const;
const stateAfter = { close: 'closed', activate: 'active' } as const;

const applyEdit = (row: MilestoneRow, edit: MilestoneEdit): Values => {
  const { title, description = row.description, start_date = row.start_date, due_date = row.due_date } = edit;
  return {
    title: title === undefined ? row.title : checkMilestoneTitle(title),
    description,
    start_date,
    due_date,
    state: edit.state_event === undefined ? row.state : stateAfter[edit.state_event],
  };
};

/**
 * Changes a milestone of the owner; its issues stay unchanged. Closing a closed one changes nothing.
 * @throws Failure 404 for one of another owner, 400 for an invalid title or dates, or a taken title
 */
export const updateMilestone = async (
  call: Call,
  { owner, id }: { owner: Owner; id: number },
  edit: Checked<MilestoneEdit, MilestoneRow>,
): Promise<MilestoneRow> =>
  await call.write(async (tx) => {
    await lockMilestones(tx, owner);
    const row = await findMilestone(tx.db, owner, id);
    edit.check?.(row);
    const values = applyEdit(row, edit);
    const changed = names.filter((name) => values[name] !== row[name]);
    if (changed.length === 0) return row;
    checkDates(values);
    if (changed.includes('title') && (await isTitleTaken(tx.db, owner, values.title, id))) throw titleTaken();
    await tx.db
      .updateTable('milestones')
      .set({ ...values, updated_at: tx.now })
      .where('id', '=', id)
      .execute();
    await recordEvent(tx, requireActor(call), {
      kind: 'milestone.updated',
      project_id: row.project_id,
      target_type: 'Milestone',
      target_id: id,
      data: Object.fromEntries(
        changed.filter((name) => name !== 'description').map((name) => [name, [row[name], values[name]]]),
      ),
    });
    await renewLists(tx, owner);
    return { ...row, ...values, updated_at: tx.now };
  });
