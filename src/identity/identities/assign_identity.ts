import { type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { insertRow } from '../../platform/db/insert.ts';
import { invalid } from '../../platform/errors.ts';
import { recordIdentity } from './link_identity.ts';
import { findIdentity } from './queries.ts';

/**
 * Links a user to an account at a provider on behalf of an administrator, replacing another account there.
 * @throws Failure 400 if the account is linked to another user
 */
export const assignIdentity = async (
  tx: Tx,
  call: Call,
  { user_id, provider, extern_uid }: { user_id: number; provider: string; extern_uid: string },
): Promise<void> => {
  const existing = await findIdentity(tx.db, provider, extern_uid);
  if (existing?.user_id === user_id) return;
  if (existing !== undefined) throw invalid({ extern_uid: ['has already been taken'] });
  await tx.db
    .deleteFrom('user_identities')
    .where('user_id', '=', user_id)
    .where('provider', '=', provider)
    .execute();
  const account = { user_id, provider, extern_uid };
  await insertRow(tx.db, 'user_identities', { ...account, created_at: tx.now });
  const actor = requireActor(call);
  await recordIdentity(tx, actor, actor.source, { kind: 'identity.created', ...account });
};
