/** As whom something is done that no request of his does: in the background, or because of what another one did. */
import type { Reader } from '../db/open.ts';
import { type ActorUser, userColumns } from './authenticate.ts';
import { type Viewer, loadViewer } from './viewer.ts';

/** The user, and what he sees and may now; null: he is gone, or may not sign in. */
export const actingUser = async (
  db: Reader,
  userId: number,
  now: number,
): Promise<{ user: ActorUser; viewer: Viewer } | null> => {
  const user = await db
    .selectFrom('users')
    .select(userColumns)
    .where('id', '=', userId)
    .where('state', '=', 'active')
    .executeTakeFirst();
  return user === undefined ? null : { user, viewer: await loadViewer(db, user, now) };
};

/** What he sees and may now; null as for `actingUser`. */
export const actingViewer = async (db: Reader, userId: number, now: number): Promise<Viewer | null> =>
  (await actingUser(db, userId, now))?.viewer ?? null;
