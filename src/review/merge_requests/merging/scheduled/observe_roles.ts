/** Checks the waiting merges of a user again when the user gets a role, or is no longer blocked. */
import { type RecordedChange, changesTopic } from '../../../../core/events/record_event.ts';
import type { Store, Tx } from '../../../../platform/db/open.ts';
import { enqueueAutoMerge } from '../../../../planning/issuables/auto_merge_work.ts';

const memberKinds = ['member.added', 'member.updated'];

/** Returns the user who may merge more than before; null: nobody. */
const getPromoted = ({ kind, target_id, data = {} }: RecordedChange): number | null => {
  if (memberKinds.includes(kind)) return (data as { user_id: number }).user_id;
  const isPromoted = kind === 'user.unblocked' || (kind === 'user.updated' && 'admin' in data);
  return isPromoted ? target_id : null;
};

const checkMergesOf = async (tx: Tx, userId: number): Promise<void> => {
  const waiting = await tx.db
    .selectFrom('merge_requests')
    .select('id')
    .where('merge_user_id', '=', userId)
    .where('merge_when_pipeline_succeeds', '=', 1)
    .where('state', '=', 'opened')
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
  for (const { id } of waiting) await enqueueAutoMerge(tx, id);
};

/** Starts observing the changes of roles in a store. */
export const observeRoles = (store: Store): void =>
  store.observe(changesTopic, async (tx, items) => {
    const promoted = (items as RecordedChange[]).map(getPromoted).filter((id) => id !== null);
    for (const id of new Set(promoted)) await checkMergesOf(tx, id);
  });
