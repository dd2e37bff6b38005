import { sql } from 'kysely';
import { Failure } from '../../platform/errors.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Store, Tx } from '../../platform/db/open.ts';
import type { IidKind } from '../../platform/db/schema/projects.ts';

type Place = { project_id: number; kind: IidKind };

const nextIid = compiled((db, { project_id, kind }: Place) =>
  db
    .insertInto('iid_sequences')
    .values({ project_id, kind, last: 1 })
    .onConflict((clash) =>
      clash.columns(['project_id', 'kind']).doUpdateSet({ last: sql<number>`iid_sequences.last + 1` }),
    )
    .returning('last')
    .compile(),
);

/**
 * PostgreSQL: `nextIid` as a transaction of its own that does not wait for the disk. The log is written in order, so
 * the commit of the record makes it durable, too.
 */
const nextIidAtOnce = compiled((db, { project_id, kind }: Place) =>
  sql<{ last: number }>`insert into iid_sequences (project_id, kind, last)
    select ${project_id}, ${kind}, 1 where set_config('synchronous_commit', 'off', true) = 'off'
    on conflict (project_id, kind) do update set last = iid_sequences.last + 1
    returning last`.compile(db),
);

const returnIid = compiled((db, { project_id, kind, iid }: Place & { iid: number }) =>
  sql`update iid_sequences set last = last - 1
    where project_id = ${project_id} and kind = ${kind} and last = ${iid}`.compile(db),
);

const firstOf = (rows: readonly { last: number }[], { project_id, kind }: Place): number => {
  const [row] = rows;
  if (row === undefined) throw new Error(`project ${project_id} has no iid of kind ${kind}`);
  return row.last;
};

/** Returns the turn of transactions that take an iid by `takeIid` (`Write`). */
export const iidTurn = (project_id: number, kind: IidKind): string => `${kind} of ${project_id}`;

/**
 * Takes the next iid of a project. Gapless, for a failed transaction rolls it back. The row stays locked until the
 * transaction ends.
 */
export const takeIid = async (tx: Tx, project_id: number, kind: IidKind): Promise<number> =>
  firstOf(await nextIid(tx.db, { project_id, kind }), { project_id, kind });

/**
 * Runs a transaction that creates a record with the next iid of its project. On PostgreSQL the iid is taken before it,
 * so that creations in one project do not wait for each other. A refused creation returns its iid if it is still the
 * last; a lost connection may leave a gap.
 */
export const writeWithIid = async <T>(
  store: Store,
  place: Place,
  work: (tx: Tx, iid: number) => Promise<T>,
): Promise<T> => {
  if (store.words.engine === 'sqlite')
    return await store.write(async (tx) => await work(tx, await takeIid(tx, place.project_id, place.kind)));
  const iid = firstOf(await nextIidAtOnce(store.db, place), place);
  try {
    return await store.write(async (tx) => await work(tx, iid));
  } catch (error) {
    // After any other error the record may have been stored.
    if (error instanceof Failure) await returnIid(store.db, { ...place, iid });
    throw error;
  }
};
