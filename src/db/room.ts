import type { SelectQueryBuilder } from 'kysely';
import { invalid } from '../errors.ts';
import type { Schema } from './schema.ts';

/**
 * For one more of what one may have only so many of. Exact where others who add to the same wait for the caller.
 * @param there a query for those that there are
 * @param what as the refusal names them
 * @throws Failure 400
 */
export const requireRoom = async <T extends keyof Schema>(
  there: SelectQueryBuilder<Schema, T, object>,
  { what, most }: { what: string; most: number },
): Promise<void> => {
  const { count } = await there
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count >= most) throw invalid({ base: [`Maximum number of ${what} (${most}) exceeded`] });
};
