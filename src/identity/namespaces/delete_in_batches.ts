import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../../platform/db/open.ts';

/** Number of rows that one transaction deletes, so that other writers wait briefly. */
const batchSize = 500;

export type RowsToDelete = {
  table: string;
  /** Columns of the primary key. */
  key: string[];
  /** Condition of the rows to delete. */
  where: RawBuilder<boolean>;
};

/** Deletes rows in bounded transactions until none are left. */
export const deleteInBatches = async (store: Store, { table, key, where }: RowsToDelete): Promise<void> => {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const batch = sql`select ${columns} from ${sql.table(table)} where ${where} limit ${sql.lit(batchSize)}`;
  const statement = sql`delete from ${sql.table(table)} where (${columns}) in (${batch})`;
  const removeBatch = async (): Promise<bigint> => {
    const { numAffectedRows = 0n } = await store.write(async ({ db }) => await statement.execute(db));
    return numAffectedRows;
  };
  while ((await removeBatch()) > 0n);
};
