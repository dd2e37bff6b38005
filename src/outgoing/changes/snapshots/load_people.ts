/** Loads members, users, groups, projects and keys for snapshots. */
import { levels } from '../../../core/access/levels.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type { Records } from './snapshot.ts';

type MemberData = {
  user_id: number;
  access_level?: number | [number, number];
  expires_at?: string | null | [string | null, string | null];
  source_type?: string;
  source_id?: number;
};

const loadGroup = async ({ db }: Tx, id: number): Promise<Pick<Records, 'group'>> => {
  const group = await db
    .selectFrom('namespaces')
    .select(['id', 'name', 'path', 'full_path', 'created_at', 'updated_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  return group === undefined ? {} : { group };
};

const latest = <T>(value: T | [T, T] | undefined, otherwise: T): T =>
  Array.isArray(value) ? value[1] : (value ?? otherwise);

/** Loads a membership, which may be gone, and the group that it is in. */
export const loadMemberRecords = async (tx: Tx, id: number, data: MemberData): Promise<Records> => {
  const row = await tx.db.selectFrom('members').selectAll().where('id', '=', id).executeTakeFirst();
  const source_type = row?.source_type ?? data.source_type;
  const source_id = row?.source_id ?? data.source_id;
  const isInGroup = source_type !== 'Project' && source_id !== undefined;
  return {
    member: {
      user_id: data.user_id,
      access_level: row?.access_level ?? latest(data.access_level, 0),
      expires_at: row?.expires_at ?? latest(data.expires_at, null),
      created_at: row?.created_at ?? tx.now,
    },
    ...(isInGroup && (await loadGroup(tx, source_id))),
  };
};

const listOwners = async ({ db }: Tx, type: 'Project' | 'Namespace', id: number): Promise<number[]> => {
  const rows = await db
    .selectFrom('members')
    .select('user_id')
    .where('source_type', '=', type)
    .where('source_id', '=', id)
    .where('access_level', '=', levels.owner)
    .orderBy('user_id')
    .limit(20)
    .execute();
  return rows.map(({ user_id }) => user_id);
};

const loadKey = async ({ db }: Tx, id: number, transient: object): Promise<Records> => {
  const row = await db
    .selectFrom('keys')
    .leftJoin('users', 'users.id', 'keys.user_id')
    .select(['keys.id', 'keys.type', 'keys.blob', 'users.username'])
    .where('keys.id', '=', id)
    .executeTakeFirst();
  const { key } = transient as { key?: { type: string; blob: string; user_id: number | null } };
  if (row !== undefined) return { key: row };
  if (key === undefined) return {};
  const user =
    key.user_id === null
      ? undefined
      : await db.selectFrom('users').select('username').where('id', '=', key.user_id).executeTakeFirst();
  return { key: { id, type: key.type, blob: key.blob, username: user?.username ?? null } };
};

/** Only these columns, because the row of a deleted user contains secrets. */
const userColumns = [
  'id',
  'name',
  'username',
  'email',
  'avatar',
  'state',
  'created_at',
  'updated_at',
] as const;

const loadUser = async ({ db }: Tx, id: number, { data, transient }: Facts): Promise<Records> => {
  const user = await db.selectFrom('users').select(userColumns).where('id', '=', id).executeTakeFirst();
  const gone: Record<string, unknown> = ((transient as { user?: object }).user as Record<
    string,
    unknown
  >) ?? { id, ...data };
  return {
    user:
      user ??
      (Object.fromEntries(userColumns.map((name) => [name, gone[name]])) as NonNullable<Records['user']>),
  };
};

type Facts = { data: object; transient: object };

/** Loads the record of a change that only hooks of the instance receive. */
export const loadSystemRecords = async (
  tx: Tx,
  [noun, id]: readonly [string, number],
  facts: Facts,
): Promise<Records> => {
  if (noun === 'group')
    return { ...(await loadGroup(tx, id)), owners: await listOwners(tx, 'Namespace', id) };
  if (noun === 'project') return { owners: await listOwners(tx, 'Project', id) };
  if (noun === 'key') return await loadKey(tx, id, facts.transient);
  return await loadUser(tx, id, facts);
};
