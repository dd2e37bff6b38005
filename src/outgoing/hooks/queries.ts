import { type Selectable, sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { HooksTable } from '../../platform/db/schema/hooks.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { type HookOwner, selectOwnHooks } from './owners.ts';

export type HookRow = Selectable<HooksTable>;

export const listHooks = async (
  db: Reader,
  owner: HookOwner,
  { limit, offset }: Pick<PageRequest, 'limit' | 'offset'>,
): Promise<Page<HookRow>> => {
  const query = selectOwnHooks(db, owner);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/**
 * Lists the hooks of all projects and groups, and of the instance, whose last delivery failed. Those of projects
 * and groups that are being removed are left out: they have no page.
 */
export const listFailingHooks = async (
  db: Reader,
  { limit, offset }: Pick<PageRequest, 'limit' | 'offset'>,
): Promise<Page<HookRow>> => {
  // Not a parameter: a partial index has only these hooks.
  const query = db
    .selectFrom('hooks')
    .where(sql<boolean>`failures > 0`)
    .where(
      sql<boolean>`(project_id is null or exists
        (select 1 from projects where projects.id = hooks.project_id and projects.deleted_at is null))`,
    )
    .where(
      sql<boolean>`(group_id is null or exists
        (select 1 from namespaces where namespaces.id = hooks.group_id and namespaces.deleted_at is null))`,
    );
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** Loads the hook that is an integration of its owner. */
export const loadIntegrationHook = async (
  db: Reader,
  owner: HookOwner,
  integration: string,
): Promise<HookRow | undefined> =>
  await selectOwnHooks(db, owner).selectAll().where('integration', '=', integration).executeTakeFirst();

/** Lists the hooks that are integrations of their owner. */
export const listIntegrationHooks = async (db: Reader, owner: HookOwner): Promise<HookRow[]> =>
  await selectOwnHooks(db, owner).selectAll().where('integration', 'is not', null).orderBy('id').execute();

/** @throws Failure 404 */
export const findHook = async (db: Reader, owner: HookOwner, id: number): Promise<HookRow> => {
  const row = await selectOwnHooks(db, owner).selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('Hook');
  return row;
};
