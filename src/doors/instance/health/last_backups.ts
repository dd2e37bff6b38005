import type { Reader } from '../../../platform/db/open.ts';

export type LastBackups = {
  /** Milliseconds since 1970; null: never. */
  finished_at: number | null;
  verified_at: number | null;
  /** Why the newest one failed; null: it did not. */
  error: string | null;
};

/** Loads when a backup last ended well, and when one was last verified. */
export const loadLastBackups = async (db: Reader): Promise<LastBackups> => {
  const times = await db
    .selectFrom('backups')
    .select(({ fn }) => [fn.max('finished_at').as('finished_at'), fn.max('verified_at').as('verified_at')])
    .executeTakeFirstOrThrow();
  const newest = await db
    .selectFrom('backups')
    .select('error')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { ...times, error: newest?.error ?? null };
};
