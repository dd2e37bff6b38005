import type { Call } from '../../core/access/call.ts';
import type { Reader } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import type { AwardRow } from './json.ts';

/** The record that carries awards: an issue, a merge request, a snippet or a comment. */
export type Awardable = {
  type: AwardRow['target_type'];
  id: number;
  /** True for a system note. */
  system: boolean;
};

type AwardedRecord = Pick<Awardable, 'type' | 'id'>;

const selectAwards = (db: Reader, { type, id }: AwardedRecord) =>
  db.selectFrom('award_emoji').where('target_type', '=', type).where('target_id', '=', id);

export const listAwards = async (
  db: Reader,
  record: AwardedRecord,
  { limit, offset }: PageRequest,
): Promise<Page<AwardRow>> => {
  const query = selectAwards(db, record);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** Loads an award of this record; 404 if it has no such award. */
export const findAward = async (db: Reader, record: AwardedRecord, id: number): Promise<AwardRow> => {
  const award = await selectAwards(db, record).selectAll().where('id', '=', id).executeTakeFirst();
  if (award === undefined) throw notFound();
  return award;
};

/** Loads the awards of a record that have one of these names, the oldest first. */
export const listNamedAwards = async (
  { db }: Pick<Call, 'db'>,
  record: AwardedRecord,
  names: readonly string[],
): Promise<AwardRow[]> =>
  await selectAwards(db, record).selectAll().where('name', 'in', names).orderBy('id').execute();
