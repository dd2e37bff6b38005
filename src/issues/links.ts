import { insertRows } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';

type IssueRef = { id: number; created_at: number };

const target = ({ id, created_at }: IssueRef) => ({
  target_type: 'Issue' as const,
  target_id: id,
  target_created_at: created_at,
});

export const labelIds = async (tx: Tx, issueId: number): Promise<number[]> => {
  const rows = await tx.db
    .selectFrom('label_links')
    .select('label_id')
    .where('target_type', '=', 'Issue')
    .where('target_id', '=', issueId)
    .execute();
  return rows.map((row) => row.label_id);
};

/** Makes `after` the labels of an issue that had `before`. */
export const setLabels = async (
  tx: Tx,
  issue: IssueRef,
  before: readonly number[],
  after: readonly number[],
): Promise<void> => {
  const gone = before.filter((id) => !after.includes(id));
  const fresh = after.filter((id) => !before.includes(id));
  if (gone.length > 0) {
    await tx.db
      .deleteFrom('label_links')
      .where('target_type', '=', 'Issue')
      .where('target_id', '=', issue.id)
      .where('label_id', 'in', gone)
      .execute();
  }
  if (fresh.length > 0) {
    const rows = fresh.map((label_id) => ({ ...target(issue), label_id }));
    await insertRows(tx.db, 'label_links', rows, 'on conflict do nothing');
  }
};

/** Makes `after`, in this order, the assignees of an issue that had `before`. */
export const setAssignees = async (
  tx: Tx,
  issue: IssueRef,
  before: readonly number[],
  after: readonly number[],
): Promise<void> => {
  if (before.length > 0) {
    await tx.db
      .deleteFrom('assignees')
      .where('target_type', '=', 'Issue')
      .where('target_id', '=', issue.id)
      .execute();
  }
  if (after.length > 0) {
    const rows = after.map((user_id, position) => ({ ...target(issue), user_id, position }));
    await insertRows(tx.db, 'assignees', rows);
  }
};
