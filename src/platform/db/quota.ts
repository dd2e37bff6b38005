import type { SelectQueryBuilder } from 'kysely';
import { invalid } from '../errors.ts';
import type { Schema } from './schema/database.ts';

/**
 * Requires that another record fits a quota. Exact only if concurrent transactions that add records wait for the
 * caller's lock.
 * @param there query for the existing records
 * @param what plural noun for the error text
 * @throws Failure 400
 */
export const requireRecordQuota = async <T extends keyof Schema>(
  there: SelectQueryBuilder<Schema, T, object>,
  { what, most: max }: { what: string; most: number },
): Promise<void> => {
  const { count } = await there
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count >= max) throw invalid({ base: [`Maximum number of ${what} (${max}) exceeded`] });
};
