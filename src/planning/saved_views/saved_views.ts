/** Filters of lists that users keep under a name. A view is private to its user. */
import { type Selectable, sql } from 'kysely';
import { type Call, requireUser } from '../../core/access/call.ts';
import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { SavedViewsTable } from '../../platform/db/schema/planning.ts';
import { invalid, notFound, refused } from '../../platform/errors.ts';

export type SavedView = Pick<Selectable<SavedViewsTable>, 'id' | 'name' | 'query'>;

/** The list that a view is of. */
export type ViewedList = {
  kind: SavedViewsTable['kind'];
  /** The first of the three that is set; otherwise the list of the user's own work. */
  project_id?: number;
  group_id?: number;
};

/** The most views of one list. */
export const maxViews = 20;

const maxName = 60;

const ofList = (userId: number, { kind, project_id = 0, group_id = 0 }: ViewedList) =>
  sql<boolean>`user_id = ${userId} and kind = ${kind}
    and coalesce(project_id, 0) = ${project_id} and coalesce(group_id, 0) = ${group_id}`;

/** Returns the caller's views of a list, by name. */
export const listSavedViews = async ({ db, actor }: Call, list: ViewedList): Promise<SavedView[]> =>
  actor === null
    ? []
    : await db
        .selectFrom('saved_views')
        .select(['id', 'name', 'query'])
        .where(ofList(actor.user.id, list))
        .orderBy('name')
        .limit(maxViews)
        .execute();

/** @throws Failure 400 for a name that is blank or too long */
const checkName = (typed: string): string => {
  const name = typed.replaceAll(/\s+/g, ' ').trim();
  if (name === '') throw invalid({ name: ["can't be blank"] });
  if (name.length > maxName) throw invalid({ name: [`is too long (maximum is ${maxName} characters)`] });
  return name;
};

/** Locks the user, so that their views cannot change meanwhile. */
const lockViews = async (tx: Tx, userId: number): Promise<void> => {
  await sql`select id from users where id = ${userId} ${tx.dialect.forUpdate}`.execute(tx.db);
};

/** @throws Failure 400 */
const requireFree = (views: readonly Pick<SavedView, 'name'>[], name: string): void => {
  if (views.some((view) => view.name === name)) throw invalid({ name: ['has already been taken'] });
};

/** Saves a view. @throws Failure 400 for a name that is taken or invalid, or one view too many */
export const createSavedView = async (
  call: Call,
  list: ViewedList,
  { name: typed, query }: Pick<SavedView, 'name' | 'query'>,
): Promise<void> => {
  const { id: user_id } = requireUser(call);
  const name = checkName(typed);
  await call.write(async (tx) => {
    await lockViews(tx, user_id);
    const views = await tx.db.selectFrom('saved_views').select('name').where(ofList(user_id, list)).execute();
    requireFree(views, name);
    if (views.length >= maxViews) throw refused(`A list has at most ${maxViews} views. Delete one first.`);
    const { kind, project_id = null, group_id = null } = list;
    await insertRow(tx.db, 'saved_views', {
      user_id,
      kind,
      project_id,
      group_id,
      name,
      query,
      created_at: tx.now,
    });
  });
};

/** @throws Failure 404 for a view of another user */
const loadOwnView = async ({ db }: Tx, userId: number, id: number) => {
  const view = await db
    .selectFrom('saved_views')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (view === undefined) throw notFound();
  return view;
};

/** Returns the other views of the same list. */
const listOthers = async (
  { db }: Tx,
  { id, user_id, kind, project_id, group_id }: Selectable<SavedViewsTable>,
): Promise<Pick<SavedView, 'name'>[]> =>
  await db
    .selectFrom('saved_views')
    .select('name')
    .where(ofList(user_id, { kind, project_id: project_id ?? 0, group_id: group_id ?? 0 }))
    .where('id', '<>', id)
    .execute();

/**
 * Renames a view of the caller, or replaces its filter. Returns its name.
 * @throws Failure 404 for any other view, 400 for a name that is taken or invalid
 */
export const updateSavedView = async (
  call: Call,
  id: number,
  { name: typed, query }: Partial<Pick<SavedView, 'name' | 'query'>>,
): Promise<string> => {
  const user = requireUser(call);
  const requested = typed === undefined ? undefined : checkName(typed);
  return await call.write(async (tx) => {
    await lockViews(tx, user.id);
    const view = await loadOwnView(tx, user.id, id);
    if (requested !== undefined) requireFree(await listOthers(tx, view), requested);
    const name = requested ?? view.name;
    await tx.db
      .updateTable('saved_views')
      .set({ name, query: query ?? view.query })
      .where('id', '=', id)
      .execute();
    return name;
  });
};

/** Deletes a view of the caller. @throws Failure 404 for any other */
export const deleteSavedView = async (call: Call, id: number): Promise<void> => {
  const user = requireUser(call);
  await call.write(async ({ db }) => {
    const { numDeletedRows } = await db
      .deleteFrom('saved_views')
      .where('id', '=', id)
      .where('user_id', '=', user.id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
  });
};
