/** Loads the users on whose behalf the service acts without a request, such as in background work. */
import type { Reader } from '../../platform/db/open.ts';
import { type ActorUser, userColumns } from './credentials/authenticate.ts';
import { type Viewer, loadViewer } from './viewer.ts';

/** Loads an active user with their current viewer. Returns null if the user is deleted or not active. */
export const loadActingUser = async (
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

/** Loads the current viewer of an active user. Returns null if the user is deleted or not active. */
export const loadActingViewer = async (db: Reader, userId: number, now: number): Promise<Viewer | null> =>
  (await loadActingUser(db, userId, now))?.viewer ?? null;
