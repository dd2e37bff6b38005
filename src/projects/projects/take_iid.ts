import { sql } from 'kysely';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { IidKind } from '../../platform/db/schema/projects.ts';

const nextIid = compiled((db, { project_id, kind }: { project_id: number; kind: IidKind }) =>
  db
    .insertInto('iid_sequences')
    .values({ project_id, kind, last: 1 })
    .onConflict((clash) =>
      clash.columns(['project_id', 'kind']).doUpdateSet({ last: sql<number>`iid_sequences.last + 1` }),
    )
    .returning('last')
    .compile(),
);

/** Returns the turn of transactions that take an iid (`Write`). */
export const iidTurn = (project_id: number, kind: IidKind): string => `${kind} of ${project_id}`;

/**
 * Takes the next iid of a project. Gapless, because a failed transaction rolls it back. The row stays locked until the
 * transaction ends.
 */
export const takeIid = async (tx: Tx, project_id: number, kind: IidKind): Promise<number> => {
  const [row] = await nextIid(tx.db, { project_id, kind });
  if (row === undefined) throw new Error(`project ${project_id} has no iid of kind ${kind}`);
  return row.last;
};
