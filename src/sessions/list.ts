import type { Selectable } from 'kysely';
import { idleLimit, longestSession } from '../access/session.ts';
import type { Reader } from '../db/open.ts';
import type { SessionsTable } from '../db/schema_access.ts';
import type { Settings } from '../settings/fields.ts';

export type SessionRow = Omit<Selectable<SessionsTable>, 'token_hash' | 'user_id'>;

/** The sessions of a user that are alive, the last used first: 100 at most, for more nobody has. */
export const listSessions = async (
  db: Reader,
  userId: number,
  { now, settings }: { now: number; settings: Settings },
): Promise<SessionRow[]> =>
  await db
    .selectFrom('sessions')
    .select(['id', 'provider', 'ip', 'user_agent', 'created_at', 'signed_in_at', 'last_seen_at'])
    .where('user_id', '=', userId)
    .where('created_at', '>', now - longestSession)
    .where('last_seen_at', '>', now - Math.min(idleLimit(settings), longestSession))
    .orderBy('last_seen_at', 'desc')
    .orderBy('id', 'desc')
    .limit(100)
    .execute();
