import { type Call, actorOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { recordAudit } from '../access/audit.ts';
import { recordEvent } from '../events/record.ts';
import { requireUnmodified } from '../http/unmodified.ts';
import { detailsOf } from './create.ts';
import { type KeyRow, findKey, lockKey } from './queries.ts';

export const removeKey = async (tx: Tx, call: Call, key: KeyRow): Promise<void> => {
  await tx.db.deleteFrom('keys').where('id', '=', key.id).execute();
  const actor = actorOf(call);
  const target = { target_type: 'Key', target_id: key.id };
  await recordAudit(tx, actor, call, { kind: 'key.deleted', ...target, details: detailsOf(key) });
  await recordEvent(tx, actor, { kind: 'key.deleted', project_id: null, ...target, data: detailsOf(key) });
};

/**
 * Takes a key from a user.
 * @throws Failure 404, 412
 */
export const deleteKey = async (call: Call, userId: number, id: number): Promise<void> =>
  await call.write(async (tx) => {
    await lockKey(tx, id);
    const key = await findKey(tx.db, userId, id);
    requireUnmodified(call.header('if-unmodified-since'), key.created_at);
    await removeKey(tx, call, key);
  });
