import { type Call, actorOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { insertRow } from '../db/insert.ts';
import { invalid } from '../errors.ts';
import { recordIdentity } from './link.ts';
import { findIdentity } from './queries.ts';

/**
 * Links a user with an account at a provider, in place of another account there: an administrator says so.
 * @throws Failure 400 where the account is another user's
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
  const actor = actorOf(call);
  await recordIdentity(tx, actor, actor.source, { kind: 'identity.created', ...account });
};
