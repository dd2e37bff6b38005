import { type Call, requireActor } from '../../core/access/call.ts';
import { recordAudit } from '../../core/access/audit.ts';
import type { Tx } from '../../platform/db/open.ts';
import { recordEvent } from '../../core/events/record_event.ts';

/** Marks a token as revoked. @returns false if it was already */
export const endToken = async (tx: Tx, id: number): Promise<boolean> => {
  const { numUpdatedRows } = await tx.db
    .updateTable('tokens')
    .set({ revoked: 1 })
    .where('id', '=', id)
    .where('revoked', '=', 0)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
};

/** Revokes a token. A token that ended before stays unchanged. */
export const revokeToken = async (
  call: Call,
  { id, user_id, name }: { id: number; user_id: number; name: string },
): Promise<void> =>
  await call.write(async (tx) => {
    if (!(await endToken(tx, id))) return;
    const [actor, target] = [requireActor(call), { target_type: 'Token', target_id: id }];
    await recordEvent(tx, actor, { kind: 'token.revoked', project_id: null, ...target });
    await recordAudit(tx, actor, call, { kind: 'token.revoked', ...target, details: { user_id, name } });
  });
