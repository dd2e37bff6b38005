import type { Reader } from '../../../platform/db/open.ts';

export type LastBackups = {
  /** Milliseconds since 1970; null: never. */
  finished_at: number | null;
  verified_at: number | null;
  /** Error of the newest backup; null: it succeeded. */
  error: string | null;
};

/** Loads when a backup last succeeded, when one was last verified, and the error of the newest. */
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
