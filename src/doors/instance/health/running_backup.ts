/** Loads how far a running backup is, and when the next one is due. */
import { sql } from 'kysely';
import type { Reader } from '../../../platform/db/open.ts';

/** Name of the background work that makes a scheduled backup, and unique key of its waiting row. */
export const backupWork = 'backup.create';

/**
 * Name of the background work that makes a requested backup, and unique key of its row while that waits for its first
 * start. A service of an earlier version, which knows no requests, leaves work of another name to others.
 */
export const requestedBackupWork = 'backup.requested';

/** Milliseconds after which progress that is not written again is that of a dead process. */
const staleAfter = 120_000;

/** Whether a backup or its verification runs, according to its record. */
export const isActive = (
  { held_until, part_at }: { held_until: number | null; part_at: number | null },
  now: number,
): boolean => (held_until ?? 0) > now || (part_at !== null && now - part_at < staleAfter);

export type RunningBackup = {
  started_at: number;
  /** What is done of its present part, such as `repositories checked: 3 of 10`; null: not known yet. */
  progress: string | null;
};

/** Loads the backup that runs or is verified; null: none. */
export const loadRunningBackup = async (db: Reader, now: number): Promise<RunningBackup | null> => {
  const row = await db
    .selectFrom('backups')
    .select(['started_at', 'held_until', 'part', 'part_done', 'part_total', 'part_at'])
    .where((is) => is.or([is('held_until', '>', now), is('part_at', '>', now - staleAfter)]))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { started_at, part, part_done, part_total } = row;
  return { started_at, progress: part === null ? null : `${part}: ${part_done} of ${part_total}` };
};

/** Loads when the next scheduled backup is due; null: none is scheduled. */
export const loadNextBackup = async (db: Reader): Promise<number | null> => {
  const row = await db
    .selectFrom('work')
    .select(sql<number | null>`min(run_at)`.as('run_at'))
    .where('unique_key', '=', backupWork)
    .where('locked_until', 'is', null)
    .executeTakeFirst();
  return row?.run_at ?? null;
};
