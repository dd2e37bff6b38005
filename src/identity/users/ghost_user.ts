import { sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import type { Cause } from '../../core/events/record_event.ts';
import { insertUser } from './create.ts';

const candidates = Array.from({ length: 100 }, (_, number) => `ghost${number === 0 ? '' : number}`);

/** An address that receives no mail (RFC 2606). */
const ghostEmail = (username: string): string => `${username}@ghost.invalid`;

/** Returns the first of the ghost's names that neither a user nor a group has. */
const findFreeName = async (tx: Tx): Promise<string> => {
  const addresses = sql.join(candidates.map((name) => sql`${ghostEmail(name)}`));
  const { rows } = await sql<{ name: string }>`
    select path as name from routes where path in (${sql.join(candidates)})
    union select lower(email) from users where lower(email) in (${addresses})`.execute(tx.db);
  const taken = new Set(rows.map(({ name }) => name.replace(/@.*/, '')));
  const free = candidates.find((name) => !taken.has(name));
  if (free === undefined) throw new Error('every name of the ghost user is taken');
  return free;
};

/**
 * Returns the id of the ghost, the author of deleted users' contributions. Creates it on first use; nobody can sign
 * in as it.
 */
export const ensureGhost = async (tx: Tx, cause: Cause | null): Promise<number> => {
  const existing = await tx.db.selectFrom('users').select('id').where('ghost', '=', 1).executeTakeFirst();
  if (existing !== undefined) return existing.id;
  const username = await findFreeName(tx);
  const names = { username, name: 'Ghost User', email: ghostEmail(username) };
  const bio =
    'This is a "Ghost User", created to hold all issues authored by users that have since been deleted.';
  const none = { password_hash: null, can_create_group: 0, projects_limit: 0, ghost: 1 } as const;
  return await insertUser(tx, cause, { ...names, ...none, bio });
};
