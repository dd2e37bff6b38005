import type { Selectable } from 'kysely';
import type { Reader, Tx } from '../db/open.ts';
import type { DeployKeyProjectsTable, KeysTable } from '../db/schema_access.ts';
import { notFound } from '../errors.ts';
import type { Page, PageRequest } from '../http/page.ts';

export type KeyRow = Selectable<KeysTable>;

/** A user's keys, oldest first. */
export const listKeys = async (
  db: Reader,
  userId: number,
  { limit, offset }: PageRequest,
): Promise<Page<KeyRow>> => {
  const query = db.selectFrom('keys').where('user_id', '=', userId);
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const items = await query.selectAll().orderBy('id').limit(limit).offset(offset).execute();
  return { items, total };
};

/**
 * A key of this user.
 * @throws Failure 404 `404 Key Not Found`
 */
export const findKey = async (db: Reader, userId: number, id: number): Promise<KeyRow> => {
  const row = await db
    .selectFrom('keys')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Key');
  return row;
};

/** Of two who delete a key, the later one finds none. */
export const lockKey = async ({ db, words }: Tx, id: number): Promise<void> => {
  await db.selectFrom('keys').select('id').where('id', '=', id).modifyEnd(words.forUpdate).execute();
};

/**
 * Any key, whoever has it.
 * @throws Failure 404 `404 Key Not Found`
 */
export const findAnyKey = async (
  db: Reader,
  column: 'id' | 'fingerprint' | 'fingerprint_sha256',
  value: number | string,
): Promise<KeyRow> => {
  const query = db.selectFrom('keys').selectAll().where(column, '=', value);
  const row = await query.orderBy('id').executeTakeFirst();
  if (row === undefined) throw notFound('Key');
  return row;
};

export type KeyProjectRow = Selectable<DeployKeyProjectsTable>;

/** A deploy key in more projects than this is answered with the first of them. */
const mostProjects = 100;

/** The projects that a deploy key opens. */
export const projectsOfDeployKey = async (db: Reader, keyId: number): Promise<KeyProjectRow[]> =>
  await db
    .selectFrom('deploy_key_projects as links')
    .innerJoin('projects', 'projects.id', 'links.project_id')
    .selectAll('links')
    .where('links.key_id', '=', keyId)
    .where('projects.deleted_at', 'is', null)
    .orderBy('links.project_id')
    .limit(mostProjects)
    .execute();
