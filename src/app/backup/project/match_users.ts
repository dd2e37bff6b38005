/** Finds the users of a backup in the running instance. */
import { sql } from 'kysely';
import type { Reader } from '../../../platform/db/open.ts';
import type { Snapshot } from '../snapshot.ts';

export type UserMatch = {
  /** Ids of the running instance, by id of the backup. */
  ids: Map<number, number>;
  /** Users identified with certainty: by id in the same instance, or by a confirmed address. */
  certain: Set<number>;
};

type User = { id: number; username: string; email: string; email_unchecked: number; ghost: number };

const listUsers = async (db: Reader): Promise<User[]> => {
  const { rows } = await sql<User>`select id, username, email, email_unchecked, ghost from users`.execute(db);
  return rows;
};

/**
 * Matches users: by id in the instance that the backup is of, else by address, else by name. Each running user is
 * matched at most once.
 * @param isSameInstance ids are never given out twice, so they name the same users
 */
export const matchUsers = async (
  db: Reader,
  snapshot: Snapshot,
  isSameInstance: boolean,
): Promise<UserMatch> => {
  const present = await listUsers(db);
  const byId = new Map(present.map((user) => [user.id, user.id]));
  const byEmail = new Map(
    present.filter((user) => user.email_unchecked === 0).map((user) => [user.email.toLowerCase(), user.id]),
  );
  const byName = new Map(present.map((user) => [user.username.toLowerCase(), user.id]));
  const [ghost] = present.filter((user) => user.ghost === 1);
  const match: UserMatch = { ids: new Map(), certain: new Set() };
  const taken = new Set<number>();
  const old = snapshot.all<User>('select id, username, email, email_unchecked, ghost from users order by id');
  const take = (user: User, id: number | undefined, isCertain: boolean): void => {
    if (id === undefined || match.ids.has(user.id) || taken.has(id)) return;
    taken.add(id);
    match.ids.set(user.id, id);
    if (isCertain) match.certain.add(user.id);
  };
  for (const user of old) if (user.ghost === 1) take(user, ghost?.id, false);
  if (isSameInstance) for (const user of old) take(user, byId.get(user.id), true);
  for (const user of old) take(user, byEmail.get(user.email.toLowerCase()), user.email_unchecked === 0);
  for (const user of old) take(user, byName.get(user.username.toLowerCase()), false);
  return match;
};
