import type { Reader } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import type { ReleaseLinkRow, ReleaseRow } from './json.ts';

const selectReleases = (db: Reader, projectId: number) =>
  db.selectFrom('releases').where('project_id', '=', projectId);

export type ReleaseOrder = { order_by: 'released_at' | 'created_at'; sort: 'asc' | 'desc' };

export const listReleases = async (
  db: Reader,
  projectId: number,
  { order_by, sort }: ReleaseOrder,
  { limit, offset }: PageRequest,
): Promise<Page<ReleaseRow>> => {
  const query = selectReleases(db, projectId);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy(order_by, sort).orderBy('id', sort).limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

export const loadRelease = async (
  db: Reader,
  projectId: number,
  tag: string,
): Promise<ReleaseRow | undefined> =>
  await selectReleases(db, projectId).selectAll().where('tag', '=', tag).executeTakeFirst();

/** @throws Failure 404 */
export const findRelease = async (db: Reader, projectId: number, tag: string): Promise<ReleaseRow> => {
  const release = await loadRelease(db, projectId, tag);
  if (release === undefined) throw notFound();
  return release;
};

/** Loads the latest release whose `released_at` has passed; undefined if there is none. */
export const loadLatestRelease = async (
  db: Reader,
  projectId: number,
  now: number,
): Promise<ReleaseRow | undefined> =>
  await selectReleases(db, projectId)
    .selectAll()
    .where('released_at', '<=', now)
    .orderBy('released_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Like `loadLatestRelease`. @throws Failure 404 */
export const latestRelease = async (db: Reader, projectId: number, now: number): Promise<ReleaseRow> => {
  const release = await loadLatestRelease(db, projectId, now);
  if (release === undefined) throw notFound();
  return release;
};

export const findLink = async (db: Reader, releaseId: number, id: number): Promise<ReleaseLinkRow> => {
  const link = await db
    .selectFrom('release_links')
    .selectAll()
    .where('release_id', '=', releaseId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (link === undefined) throw notFound();
  return link;
};
