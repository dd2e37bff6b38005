/** What work there is still to be done. */
import { sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import type { Payload } from './queue.ts';
import { never } from './taken.ts';

/**
 * Whether work waits or runs whose payload begins with these members; what was given up does not count.
 * @param like what the payload's JSON must be like, too, with `\` before what is to be itself
 */
export const isWaiting = async (db: Reader, first: Payload, like = '%'): Promise<boolean> => {
  const whole = JSON.stringify(first);
  const start = `${whole.slice(0, -1)},`;
  const found = await db
    .selectFrom('work')
    .select('id')
    .where('run_at', '<', never)
    .where(sql<boolean>`(payload = ${whole} or substr(payload, 1, ${sql.lit(start.length)}) = ${start})`)
    .where(sql<boolean>`payload like ${like} escape '\\'`)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
};
