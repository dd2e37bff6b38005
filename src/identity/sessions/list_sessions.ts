import type { Selectable } from 'kysely';
import { getIdleTimeout, maxSessionAge } from '../../core/access/credentials/session.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { SessionsTable } from '../../platform/db/schema/credentials.ts';
import type { Settings } from '../../core/settings/fields.ts';

export type SessionRow = Omit<Selectable<SessionsTable>, 'token_hash' | 'user_id'>;

/** Lists the active sessions of a user, most recently used first. `start_session.ts` keeps at most 100 per user. */
export const listSessions = async (
  db: Reader,
  userId: number,
  { now, settings }: { now: number; settings: Settings },
): Promise<SessionRow[]> =>
  await db
    .selectFrom('sessions')
    .select([
      'id',
      'provider',
      'ip',
      'user_agent',
      'created_at',
      'signed_in_at',
      'last_seen_at',
      'impersonator_session_id',
    ])
    .where('user_id', '=', userId)
    .where('created_at', '>', now - maxSessionAge)
    .where('last_seen_at', '>', now - Math.min(getIdleTimeout(settings), maxSessionAge))
    .orderBy('last_seen_at', 'desc')
    .orderBy('id', 'desc')
    .limit(100)
    .execute();
