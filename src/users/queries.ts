import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Reader, Tx } from '../db/open.ts';
import type { UsersTable } from '../db/schema.ts';
import { notFound } from '../errors.ts';
import type { PageRequest } from '../http/page.ts';
import { searchPattern } from './search_text.ts';

/** Everything of a user that is told of him. */
const columns = [
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
  'users.note',
  'users.ghost',
  'users.two_factor_enabled',
  'users.last_sign_in_at',
  'users.last_activity_on',
  'users.created_at',
  'users.updated_at',
] as const;

export type UserRow = Omit<Selectable<UsersTable>, 'password_hash' | 'search_text' | 'email_unchecked'>;

/** @throws Failure 404 `404 User Not Found` */
export const loadUser = async (db: Reader, id: number): Promise<UserRow> => {
  const row = await db.selectFrom('users').select(columns).where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('User');
  return row;
};

/** Users by id, in one statement. */
export const usersById = async (db: Reader, ids: Iterable<number>): Promise<Map<number, UserRow>> => {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const rows = await db.selectFrom('users').select(columns).where('id', 'in', wanted).execute();
  return new Map(rows.map((row) => [row.id, row]));
};

/**
 * The user, whom nobody else changes before this transaction ends.
 * @throws Failure 404 `404 User Not Found`
 */
export const lockUser = async (tx: Tx, id: number): Promise<UserRow> => {
  await sql`select id from users where id = ${id} ${tx.words.forUpdate}`.execute(tx.db);
  return await loadUser(tx.db, id);
};

/** The id of the user with this name, in any case. */
export const userIdByName = async (db: Reader, username: string): Promise<number | undefined> => {
  const query = db
    .selectFrom('users')
    .select('id')
    .where(sql`lower(username)`, '=', username.toLowerCase());
  return (await query.executeTakeFirst())?.id;
};

/** The id of the user with this (normalized) e-mail address. */
export const userIdByEmail = async (db: Reader, email: string): Promise<number | undefined> => {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where(sql`lower(email)`, '=', email)
    .executeTakeFirst();
  return row?.id;
};

/** How many projects stand in the personal namespaces of these users, by user. */
export const personalProjectCounts = async (
  db: Reader,
  userIds: readonly number[],
): Promise<Map<number, number>> => {
  if (userIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('namespaces')
    .innerJoin('projects', 'projects.namespace_id', 'namespaces.id')
    .select(({ fn }) => ['namespaces.owner_id', fn.countAll<number>().as('projects')])
    .where('namespaces.owner_id', 'in', userIds)
    .where('namespaces.kind', '=', 'user')
    .where('projects.deleted_at', 'is', null)
    .groupBy('namespaces.owner_id')
    .execute();
  return new Map(rows.map((row) => [row.owner_id ?? 0, row.projects]));
};

/** Accounts of these users at sign-in providers, by user. */
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
    [...byUser].map(([id, his]) => [id, his.map(({ provider, extern_uid }) => ({ provider, extern_uid }))]),
  );
};

export type UserFilter = {
  username?: string | undefined;
  search?: string | undefined;
  ids?: number[] | undefined;
  active?: boolean | undefined;
  blocked?: boolean | undefined;
  external?: boolean | undefined;
  created_after?: number | undefined;
  created_before?: number | undefined;
};

type Condition = RawBuilder<boolean>;

/** Name or user name in part, or the whole of an address: any one for administrators, else the public one. */
const matchesSearch = (text: string, admin: boolean): Condition => {
  const email = text.trim().toLowerCase();
  const address = admin ? sql`lower(users.email) = ${email} or` : sql``;
  return sql<boolean>`(users.search_text like ${searchPattern(text)} escape '\\'
    or ${address} lower(users.public_email) = ${email})`;
};

const conditionsOf = (filter: UserFilter, admin: boolean): Condition[] => {
  const { username, search, ids, active, blocked, external, created_after, created_before } = filter;
  const all: (Condition | null)[] = [
    // The ghost is nobody: it is shown to one who knows its name.
    username === undefined ? sql`users.ghost = 0` : sql`lower(users.username) = ${username.toLowerCase()}`,
    search === undefined || search.trim() === '' ? null : matchesSearch(search, admin),
    ids === undefined || ids.length === 0 ? null : sql`users.id in (${sql.join(ids)})`,
    active === true ? sql`users.state = 'active'` : null,
    blocked === true ? sql`users.state = 'blocked'` : null,
    external === true ? sql`users.external = 1` : null,
    created_after === undefined ? null : sql`users.created_at >= ${created_after}`,
    created_before === undefined ? null : sql`users.created_at <= ${created_before}`,
  ];
  return all.filter((condition) => condition !== null);
};

export const userOrders = ['id', 'name', 'username', 'created_at', 'updated_at'] as const;

export type UserOrder = { by: (typeof userOrders)[number]; direction: 'asc' | 'desc' };

const orderColumns: Record<UserOrder['by'], RawBuilder<unknown>> = {
  id: sql`users.id`,
  name: sql`users.search_text`,
  username: sql`lower(users.username)`,
  created_at: sql`users.created_at`,
  updated_at: sql`users.updated_at`,
};

export type UserList = { filter: UserFilter; order: UserOrder; page: PageRequest; admin: boolean };

/** A page of users and the number of all that match. */
export const listUsers = async (
  db: Reader,
  { filter, order, page, admin }: UserList,
): Promise<{ rows: UserRow[]; total: number }> => {
  const where = sql<boolean>`${sql.join(conditionsOf(filter, admin), sql` and `)}`;
  const count = db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where(where);
  const { total } = await count.executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('users')
    .select(columns)
    .where(where)
    .orderBy(orderColumns[order.by], order.direction)
    .orderBy('users.id', order.direction)
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total };
};
