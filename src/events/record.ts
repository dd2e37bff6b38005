import { insertRows } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';

/** Who caused a change: the user acted as, and the administrator behind him under sudo. */
export type Cause = { user: { id: number }; sudo_by_id: number | null };

export type Change = {
  /** `issue.created`: the target's noun and the verb. */
  kind: string;
  project_id: number | null;
  target_type: string;
  target_id: number;
  /** What changed, with values before and after where there are any. */
  data?: object;
};

/** Adds one row to the change log, in the transaction of the change. */
export const recordEvent = async (tx: Tx, cause: Cause | null, change: Change): Promise<void> => {
  const row = {
    created_at: tx.now,
    actor_id: cause?.user.id ?? null,
    sudo_by_id: cause?.sudo_by_id ?? null,
    project_id: change.project_id,
    kind: change.kind,
    target_type: change.target_type,
    target_id: change.target_id,
    data: JSON.stringify(change.data ?? {}),
  };
  await insertRows(tx.db, 'events', [row]);
};
