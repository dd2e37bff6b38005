import { type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { recordAudit } from '../../core/access/audit.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { toAuditDetails } from './create.ts';
import { type KeyRow, findKey, lockKey } from './queries.ts';

export const removeKey = async (tx: Tx, call: Call, key: KeyRow): Promise<void> => {
  await tx.db.deleteFrom('keys').where('id', '=', key.id).execute();
  const actor = requireActor(call);
  const target = { target_type: 'Key', target_id: key.id };
  await recordAudit(tx, actor, call, { kind: 'key.deleted', ...target, details: toAuditDetails(key) });
  await recordEvent(tx, actor, {
    kind: 'key.deleted',
    project_id: null,
    ...target,
    data: toAuditDetails(key),
    transient: { key },
  });
};

/**
 * Deletes a key of a user.
 * @throws Failure 404, 412
 */
export const deleteKey = async (call: Call, userId: number, id: number): Promise<void> =>
  await call.write(async (tx) => {
    await lockKey(tx, id);
    const key = await findKey(tx.db, userId, id);
    requireUnmodified(call.header('if-unmodified-since'), key.created_at);
    await removeKey(tx, call, key);
  });
