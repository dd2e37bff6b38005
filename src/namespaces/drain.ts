import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../db/open.ts';

/** Rows that one transaction removes: few enough that other writers do not notice. */
const batchSize = 500;

export type Doomed = {
  table: string;
  /** The columns of its primary key. */
  key: string[];
  /** Over the table: the rows to remove. */
  where: RawBuilder<boolean>;
};

/** Removes rows, one bounded transaction after another, until there are none. */
export const drain = async (store: Store, { table, key, where }: Doomed): Promise<void> => {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const batch = sql`select ${columns} from ${sql.table(table)} where ${where} limit ${sql.lit(batchSize)}`;
  const statement = sql`delete from ${sql.table(table)} where (${columns}) in (${batch})`;
  const removeBatch = async (): Promise<bigint> => {
    const { numAffectedRows = 0n } = await store.write(async ({ db }) => await statement.execute(db));
    return numAffectedRows;
  };
  // oxlint-disable-next-line no-await-in-loop -- one batch after another
  while ((await removeBatch()) > 0n);
};
