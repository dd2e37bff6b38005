import { sql } from 'kysely';
import type { Tx } from '../db/open.ts';
import type { Cause } from '../events/record.ts';
import { insertUser } from './create.ts';

const candidates = Array.from({ length: 100 }, (_, number) => `ghost${number === 0 ? '' : number}`);

/** Nobody receives mail there (RFC 2606). */
const emailOf = (username: string): string => `${username}@ghost.invalid`;

/** The first of the ghost's names that neither a user nor a group has. */
const freeName = async (tx: Tx): Promise<string> => {
  const addresses = sql.join(candidates.map((name) => sql`${emailOf(name)}`));
  const { rows } = await sql<{ name: string }>`
    select path as name from routes where path in (${sql.join(candidates)})
    union select lower(email) from users where lower(email) in (${addresses})`.execute(tx.db);
  const taken = new Set(rows.map(({ name }) => name.replace(/@.*/, '')));
  const free = candidates.find((name) => !taken.has(name));
  if (free === undefined) throw new Error('no name is left for the ghost user');
  return free;
};

/** The user that stands for deleted ones, made when he is first needed. Nobody signs in as him. */
export const ghostId = async (tx: Tx, cause: Cause | null): Promise<number> => {
  const known = await tx.db.selectFrom('users').select('id').where('ghost', '=', 1).executeTakeFirst();
  if (known !== undefined) return known.id;
  const username = await freeName(tx);
  const names = { username, name: 'Ghost User', email: emailOf(username) };
  const bio =
    'This is a "Ghost User", created to hold all issues authored by users that have since been deleted.';
  const none = { password_hash: null, can_create_group: 0, projects_limit: 0, ghost: 1 } as const;
  return await insertUser(tx, cause, { ...names, ...none, bio });
};
