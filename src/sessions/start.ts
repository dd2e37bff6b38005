import { longestSession } from '../access/session.ts';
import { newSecret } from '../access/session_token.ts';
import { hashToken } from '../access/token_text.ts';
import { insertRow } from '../db/insert.ts';
import type { Store, Tx } from '../db/open.ts';
import { forbidden } from '../errors.ts';
import { type Source, recordAudit } from '../access/audit.ts';
import { lockUser } from '../users/queries.ts';

/** Browsers in which one user may be signed in; past that, the oldest one is signed out. */
const mostSessions = 100;
const longestAgent = 500;

export type Sessions = { store: Store; random: (bytes: number) => Buffer };

export type SignInOf = {
  user_id: number;
  /** By which sign-in source; null: with a password. */
  provider: string | null;
  source: Source;
  /** The cookie that the browser came with: that session, whoever's it was, ends. */
  replaced: string | null;
};

const makeRoom = async (tx: Tx, user_id: number): Promise<void> => {
  await tx.db
    .deleteFrom('sessions')
    .where('last_seen_at', '<', tx.now - longestSession)
    .execute();
  const oldest = await tx.db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', user_id)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(mostSessions - 1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await tx.db.deleteFrom('sessions').where('user_id', '=', user_id).where('id', '<=', oldest.id).execute();
};

/**
 * Signs a user in who has proved who he is.
 * @returns the cookie of the session, which is kept nowhere
 * @throws Failure 403 for one who is blocked meanwhile, 404 for one who is gone
 */
export const startSession = async ({ store, random }: Sessions, given: SignInOf): Promise<string> => {
  const secret = newSecret(random);
  const { user_id, provider, source, replaced } = given;
  await store.write(async (tx) => {
    const user = await lockUser(tx, user_id);
    if (user.state === 'blocked' || user.ghost === 1) throw forbidden('Your account has been blocked.');
    if (replaced !== null) {
      await tx.db.deleteFrom('sessions').where('token_hash', '=', hashToken(replaced)).execute();
    }
    await makeRoom(tx, user_id);
    const id = await insertRow(tx.db, 'sessions', {
      user_id,
      token_hash: hashToken(secret),
      provider,
      ip: source.ip,
      user_agent: source.userAgent.slice(0, longestAgent),
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
  });
  return secret;
};
