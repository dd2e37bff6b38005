import type { Reader } from '../../../platform/db/open.ts';

export type LastBackups = {
  /** Milliseconds since 1970; null: never. */
  finished_at: number | null;
  verified_at: number | null;
  /** Error of the newest backup; null: it succeeded, or it runs. */
  error: string | null;
};

/**
 * Loads when a backup last succeeded, when one was last verified, and the error of the newest.
 * @param now time at which a backup that has neither ended nor renewed its hold counts as interrupted
 */
export const loadLastBackups = async (db: Reader, now: number): Promise<LastBackups> => {
  const times = await db
    .selectFrom('backups')
    .select(({ fn }) => [fn.max('finished_at').as('finished_at'), fn.max('verified_at').as('verified_at')])
    .executeTakeFirstOrThrow();
  const newest = await db
    .selectFrom('backups')
    .select(['error', 'finished_at', 'held_until'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const isInterrupted =
    newest !== undefined && newest.finished_at === null && (newest.held_until ?? 0) <= now;
  return { ...times, error: newest?.error ?? (isInterrupted ? 'it was interrupted' : null) };
};
