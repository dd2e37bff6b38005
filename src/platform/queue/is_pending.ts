/** Returns whether work is pending. */
import { sql } from 'kysely';
import { compiled } from '../db/compiled_query.ts';
import type { Reader } from '../db/open.ts';
import type { Payload } from './enqueue.ts';
import { never } from './leases.ts';

type PayloadPattern = { whole: string; start: string; length: number; like: string };

const selectWork = compiled((db, { whole, start, length, like }: PayloadPattern) =>
  db
    .selectFrom('work')
    .select('id')
    .where('run_at', '<', never)
    .where(sql<boolean>`(payload = ${whole} or substr(payload, 1, cast(${length} as integer)) = ${start})`)
    .where(sql<boolean>`payload like ${like} escape '\\'`)
    .limit(1)
    .compile(),
);

/**
 * Returns whether work waits or runs whose payload begins with these members. Failed work does not count.
 * @param like LIKE pattern that the payload's JSON must match, escaped by `\`
 */
export const isWorkPending = async (db: Reader, first: Payload, like = '%'): Promise<boolean> => {
  const whole = JSON.stringify(first);
  const start = `${whole.slice(0, -1)},`;
  return (await selectWork(db, { whole, start, length: start.length, like })).length > 0;
};
