import type { RawBuilder } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import type { BadgeRow } from './json.ts';

/** Loads a badge of an owner. @param where `own` or `shown` of the owner @throws Failure 404 */
export const loadBadge = async (
  { db }: { db: Reader },
  where: RawBuilder<boolean>,
  badgeId: number,
): Promise<BadgeRow> => {
  const row = await db
    .selectFrom('badges')
    .selectAll()
    .where(where)
    .where('id', '=', badgeId)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Badge');
  return row;
};

/** Loads badges of an owner, oldest first. @param where `own` or `shown` of the owner */
export const loadBadges = async (
  { db }: { db: Reader },
  where: RawBuilder<boolean>,
  limit: number,
): Promise<BadgeRow[]> =>
  await db.selectFrom('badges').selectAll().where(where).orderBy('id').limit(limit).execute();

/** Lists badges of an owner with their total, oldest first. @param where `own` or `shown` of the owner */
export const listBadges = async (
  { db }: { db: Reader },
  where: RawBuilder<boolean>,
  { name, limit, offset }: { name?: string | undefined; limit: number; offset: number },
): Promise<{ rows: BadgeRow[]; total: number }> => {
  const query = db
    .selectFrom('badges')
    .where(where)
    .$if(name !== undefined, (badges) => badges.where('name', '=', name ?? ''));
  const [rows, { total }] = await Promise.all([
    query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
    query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { rows, total };
};
