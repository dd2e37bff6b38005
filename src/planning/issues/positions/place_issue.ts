/**
 * Stores an issue's position between two others. Positions are numbers with gaps, ordered over the whole instance, ties
 * by id. If a gap is used up, the issues around it are spread; their order stays.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../../platform/db/open.ts';
import { issuePosition, positionSpacing } from '../../issuables/lists/record_kinds.ts';
import { computeMiddle, spreadBetween } from './free_positions.ts';

export type PlacedIssue = { id: number; project_id: number; position: number };

/** Ids of the issues between which another is placed; null: only the other one counts. */
export type Neighbours = { above: number | null; below: number | null };

type Around = { above: PlacedIssue | null; below: PlacedIssue | null };

const columns = sql`issues.id, issues.project_id, ${issuePosition} as position`;
const alive = sql<boolean>`issues.deleted_at is null`;

/**
 * Condition: an issue is above or below another in the order of positions. The first part is a range of the index,
 * because SQLite derives none from a comparison of pairs.
 */
const stands = (side: 'above' | 'below', { id, position }: PlacedIssue): RawBuilder<boolean> => {
  const than = side === 'above' ? sql`<` : sql`>`;
  return sql<boolean>`${issuePosition} ${than}= ${position}
    and (${issuePosition} ${than} ${position} or issues.id ${than} ${id})`;
};

/** The order of the index: PostgreSQL needs the first column to see that the rows are sorted (`choose_index.ts`). */
const nearestFirst = (side: 'above' | 'below'): RawBuilder<unknown> =>
  side === 'above'
    ? sql`issues.deleted_at desc, ${issuePosition} desc, issues.id desc`
    : sql`issues.deleted_at, ${issuePosition}, issues.id`;

/** Selects the issues nearest to one, without the issue that moves. @param project_id null: of all projects */
const selectNearest = async (
  tx: Tx,
  side: 'above' | 'below',
  from: PlacedIssue,
  { movedId, project_id, limit }: { movedId: number; project_id: number | null; limit: number },
): Promise<PlacedIssue[]> => {
  const place = project_id === null ? sql`` : sql`issues.project_id = ${project_id} and`;
  const { rows } = await sql<PlacedIssue>`select ${columns} from issues
    where ${place} ${alive} and issues.id <> ${movedId} and ${stands(side, from)}
    order by ${nearestFirst(side)} limit ${limit}`.execute(tx.db);
  return rows;
};

/** Locks issues in the order of their ids, so that two transactions that place the same issues cannot deadlock. */
const lockPlaced = async (tx: Tx, ids: readonly number[]): Promise<Map<number, PlacedIssue>> => {
  const { rows } = await sql<PlacedIssue>`select ${columns} from issues
    where ${tx.dialect.oneOf('issues.id', ids)} and ${alive} order by issues.id ${tx.dialect.forUpdate}`.execute(
    tx.db,
  );
  return new Map(rows.map((row) => [row.id, row]));
};

/** Completes the neighbours: next to a single one stands the nearest issue of its project. */
const findAround = async (tx: Tx, movedId: number, around: Around): Promise<Around> => {
  const { above, below } = around;
  const nearest = async (side: 'above' | 'below', from: PlacedIssue): Promise<PlacedIssue | null> => {
    const [one = null] = await selectNearest(tx, side, from, {
      movedId,
      project_id: from.project_id,
      limit: 1,
    });
    return one;
  };
  if (above === null) return { above: below && (await nearest('above', below)), below };
  return { above, below: below ?? (await nearest('below', above)) };
};

/** The position of the next issue that is created: the last one stays above it. */
const nextPosition = async (tx: Tx): Promise<number> => {
  const { rows } = await sql<{ last: number | null }>`select max(id) as last from issues`.execute(tx.db);
  return ((rows[0]?.last ?? 0) + 1) * positionSpacing;
};

const store = async (tx: Tx, positions: ReadonlyMap<number, number>): Promise<void> => {
  for (const id of [...positions.keys()].toSorted((a, b) => a - b)) {
    await tx.db
      .updateTable('issues')
      .set({ relative_position: positions.get(id) ?? null })
      .where('id', '=', id)
      .execute();
  }
};

/** Number of issues to spread on each side; more only if they are too close. */
const reaches = [8, 32, 128, 512, 2048];

const outermost = (placed: readonly PlacedIssue[], reach: number): number | null =>
  placed.length > reach ? (placed[reach]?.position ?? null) : null;

/** Spreads the issues around a used-up gap, with the moved one between the two neighbours. */
const spreadAround = async (tx: Tx, movedId: number, above: PlacedIssue, below: PlacedIssue) => {
  for (const reach of reaches) {
    const query = { movedId, project_id: null, limit: reach };
    const upper = [above, ...(await selectNearest(tx, 'above', above, query))];
    const lower = [below, ...(await selectNearest(tx, 'below', below, query))];
    const ids = [
      ...upper
        .slice(0, reach)
        .map(({ id }) => id)
        .toReversed(),
      movedId,
      ...lower.slice(0, reach).map(({ id }) => id),
    ];
    const bounds = { above: outermost(upper, reach), below: outermost(lower, reach) };
    const positions = spreadBetween(bounds, ids.length, reach === reaches.at(-1));
    if (positions !== null) {
      await store(tx, new Map(ids.map((id, at) => [id, positions[at] ?? 0])));
      return;
    }
  }
};

const isInOrder = (above: PlacedIssue, below: PlacedIssue): boolean =>
  above.position < below.position || (above.position === below.position && above.id < below.id);

/** Both neighbours, in order. */
const sortPair = ({ above, below }: Around): Around =>
  above === null || below === null || isInOrder(above, below)
    ? { above, below }
    : { above: below, below: above };

/**
 * Places an issue between two others, or next to one, in the transaction of the move.
 * @returns false if a neighbour was deleted meanwhile
 */
export const placeIssue = async (tx: Tx, movedId: number, neighbours: Neighbours): Promise<boolean> => {
  const ids = [neighbours.above, neighbours.below].filter((id) => id !== null);
  const placed = await lockPlaced(tx, [...ids, movedId]);
  if (ids.some((id) => !placed.has(id))) return false;
  const around = {
    above: neighbours.above === null ? null : (placed.get(neighbours.above) ?? null),
    below: neighbours.below === null ? null : (placed.get(neighbours.below) ?? null),
  };
  const { above, below } = await findAround(tx, movedId, sortPair(around));
  const next = above !== null && below === null ? await nextPosition(tx) : null;
  const isBeforeNext = next !== null && above !== null && above.position < next - 1;
  const position = computeMiddle({
    above: above?.position ?? null,
    below: below?.position ?? (isBeforeNext ? next : null),
  });
  if (position !== null) await store(tx, new Map([[movedId, position]]));
  else if (above !== null && below !== null) await spreadAround(tx, movedId, above, below);
  return true;
};
