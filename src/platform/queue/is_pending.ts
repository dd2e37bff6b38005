/** Returns whether work is pending. */
import { sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import type { Payload } from './enqueue.ts';
import { never } from './leases.ts';

/**
 * Returns whether work waits or runs whose payload begins with these members. Failed work does not count.
 * @param like LIKE pattern that the payload's JSON must match, escaped by `\`
 */
export const isWorkPending = async (db: Reader, first: Payload, like = '%'): Promise<boolean> => {
  const whole = JSON.stringify(first);
  const start = `${whole.slice(0, -1)},`;
  const row = await db
    .selectFrom('work')
    .select('id')
    .where('run_at', '<', never)
    .where(sql<boolean>`(payload = ${whole} or substr(payload, 1, ${sql.lit(start.length)}) = ${start})`)
    .where(sql<boolean>`payload like ${like} escape '\\'`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};
