/** Counts the awards of a page's records by emoji. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { NoteableType } from '../../platform/db/schema/column_types.ts';

export type AwardCount = {
  /** Name of the emoji. */
  name: string;
  count: number;
  /** Id of the caller's own award; null: none. */
  own_id: number | null;
};

type Asked = { type: NoteableType; id: number; note_ids: readonly number[]; user_id: number };

type Row = AwardCount & { target_type: string; target_id: number };

const awardCounts = compiled((db, { type, id, note_ids, user_id }: Asked, dialect) => {
  const ofNotes =
    note_ids.length === 0
      ? sql``
      : sql`or (target_type = 'Note' and ${dialect.oneOf('target_id', note_ids)})`;
  return sql<Row>`
    select target_type, target_id, name, count(*) as count,
      max(case when user_id = ${user_id} then id end) as own_id
    from award_emoji where (target_type = ${type} and target_id = ${id}) ${ofNotes}
    group by target_type, target_id, name
    order by min(id)`.compile(db);
});

export type AwardCounts = {
  target: AwardCount[];
  /** By id of the note. */
  notes: ReadonlyMap<number, AwardCount[]>;
};

/** Counts the awards of a target and of some of its notes, in one statement. */
export const countAwards = async (
  { db, viewer }: Pick<Call, 'db' | 'viewer'>,
  target: { type: NoteableType; id: number },
  note_ids: readonly number[],
): Promise<AwardCounts> => {
  const counted = { type: target.type, id: target.id, note_ids, user_id: viewer.user_id ?? 0 };
  const rows = await awardCounts(db, counted);
  const toCount = ({ name, count, own_id }: Row): AwardCount => ({ name, count, own_id });
  const notes = Map.groupBy(
    rows.filter((row) => row.target_type === 'Note'),
    (row) => row.target_id,
  );
  return {
    target: rows.filter((row) => row.target_type !== 'Note').map(toCount),
    notes: new Map([...notes].map(([id, some]) => [id, some.map(toCount)])),
  };
};
