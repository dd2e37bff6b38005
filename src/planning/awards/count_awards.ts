/** Counts the awards of a page's records by emoji. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { NoteableType } from '../../platform/db/schema/column_types.ts';

export type AwardCount = {
  /** Name of the emoji. */
  name: string;
  count: number;
  /** Id of the caller's own award; null: none. */
  own_id: number | null;
  /** Names of the first users. */
  people: string[];
};

type AwardQuery = { type: NoteableType; id: number; note_ids: readonly number[]; user_id: number };

type Row = Omit<AwardCount, 'people'> & { target_type: string; target_id: number };

/** Users of an emoji who are named. */
const maxNamed = 10;
/** Awards of a page whose users are loaded. */
const maxAwards = 1_000;

const ofPage = (
  { type, id, note_ids }: Omit<AwardQuery, 'user_id'>,
  { oneOf }: Pick<SqlDialect, 'oneOf'>,
): RawBuilder<boolean> => {
  const ofNotes =
    note_ids.length === 0 ? sql`` : sql`or (target_type = 'Note' and ${oneOf('target_id', note_ids)})`;
  return sql<boolean>`((target_type = ${type} and target_id = ${id}) ${ofNotes})`;
};

type NamedRow = { target_type: string; target_id: number; name: string; person: string };

const awardNames = compiled((db, { type, id, note_ids }: Omit<AwardQuery, 'user_id'>, dialect) =>
  sql<NamedRow>`select target_type, target_id, award_emoji.name, users.name as person
    from award_emoji join users on users.id = award_emoji.user_id
    where ${ofPage({ type, id, note_ids }, dialect)} order by award_emoji.id limit ${sql.lit(maxAwards)}`.compile(
    db,
  ),
);

const awardCounts = compiled((db, { type, id, note_ids, user_id }: AwardQuery, dialect) =>
  sql<Row>`
    select target_type, target_id, name, count(*) as count,
      max(case when user_id = ${user_id} then id end) as own_id
    from award_emoji where ${ofPage({ type, id, note_ids }, dialect)}
    group by target_type, target_id, name
    order by min(id)`.compile(db),
);

export type AwardCounts = {
  target: AwardCount[];
  /** Keyed by the id of the note. */
  notes: ReadonlyMap<number, AwardCount[]>;
};

/** Counts the awards of a target and of some of its notes, in one statement, and names who awarded in another. */
export const countAwards = async (
  { db, viewer }: Pick<Call, 'db' | 'viewer'>,
  target: { type: NoteableType; id: number },
  note_ids: readonly number[],
): Promise<AwardCounts> => {
  const counted = { type: target.type, id: target.id, note_ids, user_id: viewer.user_id ?? 0 };
  const rows = await awardCounts(db, counted);
  const named = rows.length === 0 ? [] : await awardNames(db, counted);
  const toKey = (one: Pick<Row, 'target_type' | 'target_id' | 'name'>): string =>
    `${one.target_type} ${one.target_id} ${one.name}`;
  const people = Map.groupBy(named, toKey);
  const toCount = (row: Row): AwardCount => ({
    name: row.name,
    count: row.count,
    own_id: row.own_id,
    people: (people.get(toKey(row)) ?? []).slice(0, maxNamed).map(({ person }) => person),
  });
  const notes = Map.groupBy(
    rows.filter((row) => row.target_type === 'Note'),
    (row) => row.target_id,
  );
  return {
    target: rows.filter((row) => row.target_type !== 'Note').map(toCount),
    notes: new Map([...notes].map(([id, some]) => [id, some.map(toCount)])),
  };
};
