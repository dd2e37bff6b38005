import { type Call, actorOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { recordEvent } from '../events/record.ts';
import { type Owner, lockTitles, renewLists } from './owner.ts';
import { type LabelKey, type LabelRow, findLabel, labelsTitled } from './queries.ts';
import { checkColor, checkLabelTitle, titleTaken } from './rules.ts';

export type LabelEdit = {
  new_name?: string;
  color?: string;
  description?: string | null;
  /** Of a project's own labels only. */
  priority?: number | null;
};

type Values = Pick<LabelRow, 'title' | 'color' | 'description' | 'priority'>;

const names = ['title', 'color', 'description', 'priority'] as const;

const valuesOf = (label: LabelRow, owner: Owner, edit: LabelEdit): Values => ({
  title: edit.new_name === undefined ? label.title : checkLabelTitle(edit.new_name),
  color: edit.color === undefined ? label.color : checkColor(edit.color),
  description: edit.description === undefined ? label.description : edit.description,
  priority: edit.priority === undefined || owner.kind === 'groups' ? label.priority : edit.priority,
});

const requireFreeTitle = async (tx: Tx, owner: Owner, label: LabelRow, title: string): Promise<void> => {
  const others = await labelsTitled(tx.db, owner, title);
  if (others.some((other) => other.id !== label.id)) throw titleTaken();
};

const store = async (call: Call, owner: Owner, key: LabelKey, edit: LabelEdit): Promise<LabelRow> =>
  await call.write(async (tx) => {
    if (edit.new_name !== undefined) await lockTitles(tx, owner);
    const label = await findLabel(tx.db, owner, key, 'own');
    const values = valuesOf(label, owner, edit);
    const changed = names.filter((name) => values[name] !== label[name]);
    if (changed.length === 0) return label;
    const isRenamed = changed.includes('title');
    if (isRenamed) await requireFreeTitle(tx, owner, label, values.title);
    await tx.db
      .updateTable('labels')
      .set({ ...values, updated_at: tx.now })
      .where('id', '=', label.id)
      .execute();
    await recordEvent(tx, actorOf(call), {
      kind: 'label.updated',
      project_id: label.project_id,
      target_type: 'Label',
      target_id: label.id,
      data: Object.fromEntries(changed.map((name) => [name, [label[name], values[name]]])),
    });
    if (isRenamed) await renewLists(tx, owner);
    return { ...label, ...values, updated_at: tx.now };
  });

/**
 * Changes a label of the owner's own. Issues that carry it are not touched, but what was cached of their lists is
 * old when the title changes.
 * @throws Failure 404 `404 Label Not Found`, 400 for a bad title or colour or a title that is taken
 */
export const updateLabel = async (
  call: Call,
  owner: Owner,
  key: LabelKey,
  edit: LabelEdit,
): Promise<LabelRow> => {
  try {
    return await store(call, owner, key, edit);
  } catch (error) {
    // Another transaction took the title after the look.
    if (call.platform.store.isUniqueViolation(error)) throw titleTaken();
    throw error;
  }
};
