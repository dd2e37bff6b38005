import type { Tx } from '../../platform/db/open.ts';
import { type Cause, type Source, recordAudit } from '../../core/access/audit.ts';
import { lockUser } from '../users/queries.ts';

/** Deletes the factor with its recovery codes. */
export const removeFactor = async (tx: Tx, userId: number): Promise<void> => {
  for (const table of ['two_factors', 'recovery_codes', 'sign_in_challenges'] as const) {
    await tx.db.deleteFrom(table).where('user_id', '=', userId).execute();
  }
  await tx.db.updateTable('users').set({ two_factor_enabled: 0 }).where('id', '=', userId).execute();
};

/**
 * Disables the second factor of a user who lost it, for an administrator, and removes the passkeys, which may be lost
 * with it.
 * @throws Failure 404 for an unknown user
 */
export const removeFactorOf = async (
  tx: Tx,
  cause: Cause | null,
  source: Source,
  userId: number,
): Promise<void> => {
  await lockUser(tx, userId);
  await removeFactor(tx, userId);
  await tx.db.deleteFrom('passkeys').where('user_id', '=', userId).execute();
  const target = { target_type: 'User', target_id: userId };
  await recordAudit(tx, cause, source, { kind: 'two_factor.disabled', ...target });
};
