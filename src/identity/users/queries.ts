import { type Selectable, sql } from 'kysely';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { UsersTable } from '../../platform/db/schema/identity.ts';
import { notFound } from '../../platform/errors.ts';

/** All columns of a user that responses show. */
export const userColumns = [
  'users.id',
  'users.username',
  'users.name',
  'users.email',
  'users.state',
  'users.admin',
  'users.external',
  'users.can_create_group',
  'users.projects_limit',
  'users.bio',
  'users.location',
  'users.skype',
  'users.linkedin',
  'users.twitter',
  'users.website_url',
  'users.organization',
  'users.public_email',
  'users.avatar',
  'users.note',
  'users.ghost',
  'users.two_factor_enabled',
  'users.last_sign_in_at',
  'users.last_activity_on',
  'users.created_at',
  'users.updated_at',
] as const;

export type UserRow = Omit<
  Selectable<UsersTable>,
  'password_hash' | 'search_text' | 'email_unchecked' | 'feed_generation'
>;

/** Loads a user. @throws Failure 404 `404 User Not Found` */
export const loadUser = async (db: Reader, id: number): Promise<UserRow> => {
  const row = await db.selectFrom('users').select(userColumns).where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('User');
  return row;
};

/** Loads users by id, in one statement. */
export const usersById = async (db: Reader, ids: Iterable<number>): Promise<Map<number, UserRow>> => {
  const requestedIds = [...new Set(ids)];
  if (requestedIds.length === 0) return new Map();
  const rows = await db.selectFrom('users').select(userColumns).where('id', 'in', requestedIds).execute();
  return new Map(rows.map((row) => [row.id, row]));
};

/**
 * Loads a user and locks it until the transaction ends.
 * @throws Failure 404 `404 User Not Found`
 */
export const lockUser = async (tx: Tx, id: number): Promise<UserRow> => {
  await sql`select id from users where id = ${id} ${tx.dialect.forUpdate}`.execute(tx.db);
  return await loadUser(tx.db, id);
};

/** Returns the id of the user with this name, in any case. */
export const userIdByName = async (db: Reader, username: string): Promise<number | undefined> => {
  const query = db
    .selectFrom('users')
    .select('id')
    .where(sql`lower(username)`, '=', username.toLowerCase());
  return (await query.executeTakeFirst())?.id;
};

/** Returns the id of the user with this (normalized) e-mail address. */
export const userIdByEmail = async (db: Reader, email: string): Promise<number | undefined> => {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where(sql`lower(email)`, '=', email)
    .executeTakeFirst();
  return row?.id;
};

export type PersonalNamespace = { id: number; projects: number };

/** Loads the personal namespaces of these users with their numbers of projects, by user. */
export const personalNamespaces = async (
  db: Reader,
  userIds: readonly number[],
): Promise<Map<number, PersonalNamespace>> => {
  if (userIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('namespaces')
    .leftJoin('projects', (join) =>
      join.onRef('projects.namespace_id', '=', 'namespaces.id').on('projects.deleted_at', 'is', null),
    )
    .select(({ fn }) => [
      'namespaces.id',
      'namespaces.owner_id',
      fn.count<number>('projects.id').as('projects'),
    ])
    .where('namespaces.owner_id', 'in', userIds)
    .where('namespaces.kind', '=', 'user')
    .groupBy(['namespaces.id', 'namespaces.owner_id'])
    .execute();
  return new Map(rows.map(({ owner_id, id, projects }) => [owner_id ?? 0, { id, projects }]));
};

/** Loads the linked accounts of these users, by user. */
export const identitiesByUser = async (
  db: Reader,
  userIds: readonly number[],
): Promise<Map<number, { provider: string; extern_uid: string }[]>> => {
  const rows =
    userIds.length === 0
      ? []
      : await db
          .selectFrom('user_identities')
          .select(['user_id', 'provider', 'extern_uid'])
          .where('user_id', 'in', userIds)
          .orderBy('provider')
          .execute();
  const byUser = Map.groupBy(rows, ({ user_id }) => user_id);
  return new Map(
    [...byUser].map(([id, linked]) => [
      id,
      linked.map(({ provider, extern_uid }) => ({ provider, extern_uid })),
    ]),
  );
};
