import { sql } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';
import type { IidKind } from '../db/schema.ts';

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

/**
 * Takes the next iid of a project: gapless, as a transaction that fails gives it back. Its row stays locked until the
 * transaction ends.
 */
export const takeIid = async (tx: Tx, project_id: number, kind: IidKind): Promise<number> => {
  const [row] = await nextIid(tx.db, { project_id, kind });
  if (row === undefined) throw new Error(`project ${project_id} has no iid of kind ${kind}`);
  return row.last;
};
