import type { Selectable } from 'kysely';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { KeysTable } from '../../platform/db/schema/credentials.ts';
import type { DeployKeyProjectsTable } from '../../platform/db/schema/projects.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';

export type KeyRow = Selectable<KeysTable>;

/** Lists a user's keys, oldest first. */
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
 * Loads a key of this user.
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

/** Locks a key, so that the second of two concurrent deletions finds none. */
export const lockKey = async ({ db, dialect }: Tx, id: number): Promise<void> => {
  await db.selectFrom('keys').select('id').where('id', '=', id).modifyEnd(dialect.forUpdate).execute();
};

/**
 * Loads a key of any user.
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

/** Maximum number of projects shown with a deploy key. */
const maxShownProjects = 100;

/** Lists the projects that a deploy key gives access to. */
export const listDeployKeyProjects = async (db: Reader, keyId: number): Promise<KeyProjectRow[]> =>
  await db
    .selectFrom('deploy_key_projects as links')
    .innerJoin('projects', 'projects.id', 'links.project_id')
    .selectAll('links')
    .where('links.key_id', '=', keyId)
    .where('projects.deleted_at', 'is', null)
    .orderBy('links.project_id')
    .limit(maxShownProjects)
    .execute();
