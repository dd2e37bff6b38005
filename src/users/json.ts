import { hash } from 'node:crypto';
import type { Reader } from '../db/open.ts';
import type { UsersTable } from '../db/schema.ts';
import { int, nullable, object, string } from '../http/schema.ts';
import { settings } from '../settings/defaults.ts';

/** A user as embedded in other records. */
export const basicUserShape = object({
  id: int,
  name: string,
  username: string,
  state: string,
  avatar_url: nullable(string),
  web_url: string,
});

export type BasicUserRow = { id: number } & Pick<UsersTable, 'name' | 'username' | 'state' | 'email'>;

export const basicUserColumns = ['users.id', 'users.name', 'users.username', 'users.state', 'users.email'] as const;

export const avatarUrl = (email: string): string | null =>
  settings.avatar_service_enabled
    ? `http://www.gravatar.com/avatar/${hash('md5', email.trim().toLowerCase())}?s=80&d=identicon`
    : null;

export const basicUser = (user: BasicUserRow, baseUrl: string) => ({
  id: user.id,
  name: user.name,
  username: user.username,
  state: user.state,
  avatar_url: avatarUrl(user.email),
  web_url: `${baseUrl}/${user.username}`,
});

export type BasicUser = ReturnType<typeof basicUser>;

/** The users of these ids, for embedding, in one statement. */
export const basicUsersById = async (
  db: Reader,
  ids: Iterable<number>,
): Promise<Map<number, BasicUserRow>> => {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const rows = await db.selectFrom('users').select(basicUserColumns).where('id', 'in', wanted).execute();
  return new Map(rows.map((row) => [row.id, row]));
};
