import type { Reader } from '../db/open.ts';
import { notFound } from '../errors.ts';
import type { Page, PageRequest } from '../http/page.ts';
import type { AwardRow } from './json.ts';

/** What is awarded: a noun's record, or a comment on one. */
export type Awardable = {
  type: AwardRow['target_type'];
  id: number;
  /** Whether the service itself wrote it. */
  system: boolean;
};

type Of = Pick<Awardable, 'type' | 'id'>;

const awardsOf = (db: Reader, { type, id }: Of) =>
  db.selectFrom('award_emoji').where('target_type', '=', type).where('target_id', '=', id);

export const listAwards = async (
  db: Reader,
  of: Of,
  { limit, offset }: PageRequest,
): Promise<Page<AwardRow>> => {
  const query = awardsOf(db, of);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** An award of this very record; else 404. */
export const findAward = async (db: Reader, of: Of, id: number): Promise<AwardRow> => {
  const found = await awardsOf(db, of).selectAll().where('id', '=', id).executeTakeFirst();
  if (found === undefined) throw notFound();
  return found;
};
