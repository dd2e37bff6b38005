import { maxSessionAge } from '../../core/access/credentials/session.ts';
import { generateSecret } from '../../core/access/credentials/session_token.ts';
import { hashToken } from '../../core/access/credentials/token_text.ts';
import { insertRow } from '../../platform/db/insert.ts';
import type { Store, Tx } from '../../platform/db/open.ts';
import { forbidden } from '../../platform/errors.ts';
import { type Source, recordAudit } from '../../core/access/audit.ts';
import { acceptInvitations } from '../invitations/accept.ts';
import { lockUser } from '../users/queries.ts';

/** Maximum number of sessions per user. The oldest one ends beyond it. */
const maxSessions = 100;
export const maxAgentLength = 500;

export type Sessions = { store: Store; random: (bytes: number) => Buffer };

export type NewSession = {
  user_id: number;
  /** The sign-in source; null: a password. */
  provider: string | null;
  source: Source;
  /** The cookie of the browser; its session ends. */
  replaced: string | null;
};

const endOldest = async (tx: Tx, user_id: number): Promise<void> => {
  await tx.db
    .deleteFrom('sessions')
    .where('last_seen_at', '<', tx.now - maxSessionAge)
    .execute();
  const oldest = await tx.db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', user_id)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(maxSessions - 1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await tx.db.deleteFrom('sessions').where('user_id', '=', user_id).where('id', '<=', oldest.id).execute();
};

/**
 * Creates the session of an authenticated user, and accepts the invitations of their address if it is confirmed.
 * @returns the cookie; only its hash is stored
 * @throws Failure 403 for a user blocked meanwhile, 404 for a deleted user
 */
export const startSession = async ({ store, random }: Sessions, input: NewSession): Promise<string> => {
  const secret = generateSecret(random);
  const { user_id, provider, source, replaced } = input;
  const now = await store.write(async (tx) => {
    const user = await lockUser(tx, user_id);
    if (user.state === 'blocked' || user.ghost === 1) throw forbidden('Your account has been blocked.');
    if (replaced !== null) {
      await tx.db.deleteFrom('sessions').where('token_hash', '=', hashToken(replaced)).execute();
    }
    await endOldest(tx, user_id);
    const id = await insertRow(tx.db, 'sessions', {
      user_id,
      token_hash: hashToken(secret),
      provider,
      ip: source.ip,
      user_agent: source.userAgent.slice(0, maxAgentLength),
      created_at: tx.now,
      signed_in_at: tx.now,
      last_seen_at: tx.now,
    });
    await tx.db.updateTable('users').set({ last_sign_in_at: tx.now }).where('id', '=', user_id).execute();
    const cause = { user: { id: user_id }, sudo_by_id: null };
    const details = provider === null ? {} : { provider };
    await recordAudit(tx, cause, source, {
      kind: 'session.created',
      target_type: 'Session',
      target_id: id,
      details,
    });
    return tx.now;
  });
  await acceptInvitations(store, user_id, now);
  return secret;
};
