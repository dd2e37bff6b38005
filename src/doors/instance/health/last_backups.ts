import type { Reader } from '../../../platform/db/open.ts';

export type LastBackups = {
  /** Milliseconds since 1970; null: never. */
  finished_at: number | null;
  verified_at: number | null;
  /** Error of the newest backup that does not run; null: it succeeded. */
  error: string | null;
};

/**
 * Loads when a backup last succeeded, when one was last verified, and the error of the newest that does not run.
 * @param now the current time: a running backup whose hold has expired by then counts as interrupted
 */
export const loadLastBackups = async (db: Reader, now: number): Promise<LastBackups> => {
  const times = await db
    .selectFrom('backups')
    .select(({ fn }) => [fn.max('finished_at').as('finished_at'), fn.max('verified_at').as('verified_at')])
    .executeTakeFirstOrThrow();
  const newest = await db
    .selectFrom('backups')
    .select(['error', 'finished_at'])
    .where((is) =>
      is.or([is('finished_at', 'is not', null), is('held_until', 'is', null), is('held_until', '<=', now)]),
    )
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const isInterrupted = newest !== undefined && newest.finished_at === null;
  return { ...times, error: newest?.error ?? (isInterrupted ? 'it was interrupted' : null) };
};
