import { type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { Checked } from '../../platform/http/precondition.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type Owner, lockTitles, ownerTurn, renewLists } from '../project_or_group/owner.ts';
import { type LabelKey, findLabel, labelsTitled } from './queries.ts';
import type { LabelRow } from './label_row.ts';
import { checkColor, checkLabelTitle, titleTaken } from './rules.ts';

export type LabelEdit = {
  new_name?: string;
  color?: string;
  description?: string | null;
  /** Only for a project's own labels. */
  priority?: number | null;
};

type Values = Pick<LabelRow, 'title' | 'color' | 'description' | 'priority'>;

const names = ['title', 'color', 'description', 'priority'] as const;

const applyEdit = (label: LabelRow, owner: Owner, edit: LabelEdit): Values => ({
  title: edit.new_name === undefined ? label.title : checkLabelTitle(edit.new_name),
  color: edit.color === undefined ? label.color : checkColor(edit.color),
  description: edit.description === undefined ? label.description : edit.description,
  priority: edit.priority === undefined || owner.kind === 'groups' ? label.priority : edit.priority,
});

const requireFreeTitle = async (tx: Tx, owner: Owner, label: LabelRow, title: string): Promise<void> => {
  const others = await labelsTitled(tx.db, owner, title);
  if (others.some((other) => other.id !== label.id)) throw titleTaken();
};

/** Loads the label as other transactions left it, and locks it. */
const lockLabel = async (tx: Tx, owner: Owner, key: LabelKey): Promise<LabelRow> => {
  const { id } = await findLabel(tx.db, owner, key, 'own');
  const row = tx.db.selectFrom('labels').select('id').where('id', '=', id);
  await row.modifyEnd(tx.dialect.forUpdate).execute();
  return await findLabel(tx.db, owner, { id }, 'own');
};

type CheckedEdit = Checked<LabelEdit, LabelRow>;

const store = async (call: Call, owner: Owner, key: LabelKey, edit: CheckedEdit): Promise<LabelRow> =>
  await call.write(
    async (tx) => {
      if (edit.new_name !== undefined) await lockTitles(tx, owner);
      const label =
        edit.check === undefined
          ? await findLabel(tx.db, owner, key, 'own')
          : await lockLabel(tx, owner, key);
      edit.check?.(label);
      const values = applyEdit(label, owner, edit);
      const changed = names.filter((name) => values[name] !== label[name]);
      if (changed.length === 0) return label;
      const isRenamed = changed.includes('title');
      if (isRenamed) await requireFreeTitle(tx, owner, label, values.title);
      await tx.db
        .updateTable('labels')
        .set({ ...values, updated_at: tx.now })
        .where('id', '=', label.id)
        .execute();
      await recordEvent(tx, requireActor(call), {
        kind: 'label.updated',
        project_id: label.project_id,
        target_type: 'Label',
        target_id: label.id,
        data: Object.fromEntries(changed.map((name) => [name, [label[name], values[name]]])),
      });
      // Lists are ordered by priority.
      if (isRenamed || changed.includes('priority')) await renewLists(tx, owner);
      return { ...label, ...values, updated_at: tx.now };
    },
    edit.new_name === undefined ? undefined : ownerTurn(owner),
  );

/**
 * Changes a label of the owner. Does not modify issues that have the label. A new name or priority invalidates cached
 * lists of issues.
 * @throws Failure 404 `404 Label Not Found`, 400 for an invalid title or color or a taken title
 */
export const updateLabel = async (
  call: Call,
  owner: Owner,
  key: LabelKey,
  edit: CheckedEdit,
): Promise<LabelRow> => {
  try {
    return await store(call, owner, key, edit);
  } catch (error) {
    // Another transaction took the title after the check.
    if (call.platform.store.isUniqueViolation(error)) throw titleTaken();
    throw error;
  }
};
