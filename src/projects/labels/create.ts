import { type Call, requireActor } from '../../core/access/call.ts';
import { conflict } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type Owner, ownerColumns } from '../project_or_group/owner.ts';
import { labelsTitled } from './queries.ts';
import type { LabelRow } from './label_row.ts';
import { checkColor, checkLabelTitle } from './rules.ts';

export type NewLabel = { name: string; color: string; description: string | null; priority: number | null };

const exists = () => conflict('Label already exists');

/**
 * Creates a label of a project or group.
 * @throws Failure 400 for an invalid title or color, 409 if the owner or a group above has a label of this title
 */
export const createLabel = async (call: Call, owner: Owner, input: NewLabel): Promise<LabelRow> => {
  const title = checkLabelTitle(input.name);
  const color = checkColor(input.color);
  return await call.write(async (tx) => {
    if ((await labelsTitled(tx.db, owner, title)).length > 0) throw exists();
    const row = await tx.db
      .insertInto('labels')
      .values({
        ...ownerColumns(owner),
        title,
        color,
        description: input.description,
        priority: owner.kind === 'projects' ? input.priority : null,
        created_at: tx.now,
        updated_at: tx.now,
      })
      .onConflict((clash) => clash.doNothing())
      .returningAll()
      .executeTakeFirst();
    // Another transaction created it after the check.
    if (row === undefined) throw exists();
    await recordEvent(tx, requireActor(call), {
      kind: 'label.created',
      project_id: row.project_id,
      target_type: 'Label',
      target_id: row.id,
      data: { title, ...(row.group_id !== null && { group_id: row.group_id }) },
    });
    return row;
  });
};
