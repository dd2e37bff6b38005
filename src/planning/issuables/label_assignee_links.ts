import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { Target } from './target.ts';

/** The record that carries the labels and assignees. */
export type Linked = Pick<Target, 'type' | 'id' | 'created_at'>;

const target = ({ type, id, created_at }: Linked) => ({
  target_type: type,
  target_id: id,
  target_created_at: created_at,
});

export const labelIds = async (tx: Tx, { type, id }: Pick<Linked, 'type' | 'id'>): Promise<number[]> => {
  const rows = await tx.db
    .selectFrom('label_links')
    .select('label_id')
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .execute();
  return rows.map((row) => row.label_id);
};

/** Replaces the labels of a record. */
export const setLabels = async (
  tx: Tx,
  record: Linked,
  before: readonly number[],
  after: readonly number[],
): Promise<void> => {
  const gone = before.filter((id) => !after.includes(id));
  const fresh = after.filter((id) => !before.includes(id));
  if (gone.length > 0) {
    await tx.db
      .deleteFrom('label_links')
      .where('target_type', '=', record.type)
      .where('target_id', '=', record.id)
      .where('label_id', 'in', gone)
      .execute();
  }
  if (fresh.length > 0) {
    const rows = fresh.map((label_id) => ({ ...target(record), label_id }));
    await insertRows(tx.db, 'label_links', rows, 'on conflict do nothing');
  }
};

/** Replaces the assignees of a record, keeping the order of `after`. */
export const setAssignees = async (
  tx: Tx,
  record: Linked,
  before: readonly number[],
  after: readonly number[],
): Promise<void> => {
  if (before.length > 0) {
    await tx.db
      .deleteFrom('assignees')
      .where('target_type', '=', record.type)
      .where('target_id', '=', record.id)
      .execute();
  }
  if (after.length > 0) {
    const rows = after.map((user_id, position) => ({ ...target(record), user_id, position }));
    await insertRows(tx.db, 'assignees', rows);
  }
};
