import type { Store } from '../db/open.ts';
import { type Cause, recordEvent } from '../events/record.ts';

/** Ends a token at once and for good. One that ended before stays as it is. */
export const revokeToken = async (
  { write }: Pick<Store, 'write'>,
  cause: Cause | null,
  token: { id: number },
): Promise<void> =>
  await write(async (tx) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('tokens')
      .set({ revoked: 1 })
      .where('id', '=', token.id)
      .where('revoked', '=', 0)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return;
    const target = { project_id: null, target_type: 'Token', target_id: token.id };
    await recordEvent(tx, cause, { kind: 'token.revoked', ...target });
  });
