import { insertRow } from '../../platform/db/insert.ts';
import type { Store, Tx } from '../../platform/db/open.ts';
import { type Source, recordAudit } from '../../core/access/audit.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { lockUser } from '../users/queries.ts';
import { findIdentity } from './queries.ts';

type Account = { provider: string; extern_uid: string };

export const recordIdentity = async (
  tx: Tx,
  cause: Cause | null,
  source: Source,
  { kind, user_id, ...account }: Account & { kind: string; user_id: number },
): Promise<void> => {
  const target = { target_type: 'User', target_id: user_id };
  await recordEvent(tx, cause, { kind, project_id: null, ...target, data: account });
  await recordAudit(tx, cause, source, { kind, ...target, details: account });
};

/**
 * Links the user to an account at a provider.
 * @returns false if the account is linked to another user, or the user has another account there
 * @throws Failure 404
 */
export const linkIdentity = async (
  { write }: Pick<Store, 'write'>,
  source: Source,
  user_id: number,
  { provider, extern_uid }: Account,
): Promise<boolean> =>
  await write(async (tx) => {
    await lockUser(tx, user_id);
    const existing = await findIdentity(tx.db, provider, extern_uid);
    if (existing !== undefined) return existing.user_id === user_id;
    const linked = await tx.db
      .selectFrom('user_identities')
      .select('id')
      .where('user_id', '=', user_id)
      .where('provider', '=', provider)
      .executeTakeFirst();
    if (linked !== undefined) return false;
    await insertRow(tx.db, 'user_identities', { user_id, provider, extern_uid, created_at: tx.now });
    const cause = { user: { id: user_id }, sudo_by_id: null };
    await recordIdentity(tx, cause, source, { kind: 'identity.created', user_id, provider, extern_uid });
    return true;
  });

/** Unlinks a user from the account at a provider, if there is one. @param cause the user, or an administrator */
export const unlinkIdentity = async (
  { write }: Pick<Store, 'write'>,
  cause: Cause,
  source: Source,
  { user_id, provider }: { user_id: number; provider: string },
): Promise<void> =>
  await write(async (tx) => {
    const gone = await tx.db
      .deleteFrom('user_identities')
      .where('user_id', '=', user_id)
      .where('provider', '=', provider)
      .returning(['user_id', 'extern_uid'])
      .executeTakeFirst();
    if (gone !== undefined)
      await recordIdentity(tx, cause, source, { kind: 'identity.deleted', provider, ...gone });
  });
