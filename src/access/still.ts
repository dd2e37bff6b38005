/** Answers that go on for long: whether who asked may still be answered. */
import type { Reader } from '../db/open.ts';
import { type Credential, isExpired } from './authenticate.ts';
import type { Call } from './call.ts';
import { longestSession } from './session.ts';
import { loadViewer } from './viewer.ts';

const tokenLives = async (db: Reader, id: number, now: number): Promise<boolean> => {
  const row = await db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select(['tokens.expires_at', 'tokens.dies_at'])
    .where('tokens.id', '=', id)
    .where('tokens.revoked', '=', 0)
    .where('users.state', '<>', 'blocked')
    .executeTakeFirst();
  return row !== undefined && !isExpired(row, now);
};

/** Who listens does not rest: one is over that was ended, or is too old. */
const sessionLives = async (db: Reader, id: number, now: number): Promise<boolean> => {
  const row = await db
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', id)
    .where('created_at', '>', now - longestSession)
    .executeTakeFirst();
  return row !== undefined;
};

const credentialLives = async (db: Reader, { kind, id }: Credential, now: number): Promise<boolean> => {
  if (kind === 'job') return false;
  return await (kind === 'session' ? sessionLives : tokenLives)(db, id, now);
};

const userNow = async (db: Reader, id: number) =>
  await db
    .selectFrom('users')
    .select(['id', 'admin', 'external'])
    .where('id', '=', id)
    .where('state', '<>', 'blocked')
    .executeTakeFirst();

/** The call as it would be opened now; null: it would be refused. That it is asked is noted nowhere. */
export const callNow = async (call: Call): Promise<Call | null> => {
  const { actor, db, platform } = call;
  const now = platform.clock.now();
  if (actor === null || !(await credentialLives(db, actor.credential, now))) return null;
  const user = await userNow(db, actor.user.id);
  const behind = actor.sudo_by_id === null ? null : await userNow(db, actor.sudo_by_id);
  if (user === undefined || behind === undefined || behind?.admin === 0) return null;
  return { ...call, now, admin: user.admin === 1, viewer: await loadViewer(db, user, now) };
};
