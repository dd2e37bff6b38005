/**
 * The instance's records of its backups. One backup runs at a time; while it runs, files are not removed, so that
 * what the rows of its database refer to is still there when it is copied.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { loadLastBackups } from '../../doors/instance/health/last_backups.ts';
import type { Reader, Store } from '../../platform/db/open.ts';
import { StartFailure } from '../../platform/errors.ts';
import { isBackupRunning, removalWork } from './removal_work.ts';

/** Milliseconds for which one renewal holds back removals. */
const holdDuration = 90_000;
/** Milliseconds to wait for removals that had begun. */
const maxRemovalWait = 15 * 60_000;
const maxRecords = 200;

/** The part of a backup or of its verification that runs, and how many of its items are done. */
export type PartProgress = { label: string; done: number; total: number };

const noProgress = { part: null, part_done: null, part_total: null, part_at: null };

const toColumns = (progress: PartProgress | null, now: number) =>
  progress === null
    ? noProgress
    : { part: progress.label, part_done: progress.done, part_total: progress.total, part_at: now };

type NewBackup = { name: string; destination: string; holder: string };

const insertRecord = async (store: Store, { name, destination, holder }: NewBackup): Promise<number> =>
  await store.write(async (tx) => {
    // If two start concurrently on PostgreSQL, the second waits here and sees the first.
    if (tx.dialect.engine === 'postgres') await sql`lock table backups in exclusive mode`.execute(tx.db);
    // This process holds the lock of the folder, so an earlier backup from there is dead.
    await tx.db.updateTable('backups').set({ held_until: null }).where('holder', '=', holder).execute();
    if (await isBackupRunning(tx.db, tx.now))
      throw new StartFailure('another backup of this instance is running');
    const times = { started_at: tx.now, held_until: tx.now + holdDuration };
    const { id } = await tx.db
      .insertInto('backups')
      .values({
        name,
        destination,
        holder,
        ...times,
        finished_at: null,
        verified_at: null,
        bytes: null,
        error: null,
        ...noProgress,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await tx.db
      .deleteFrom('backups')
      .where('id', '<=', id - maxRecords)
      .execute();
    return id;
  });

type Change = {
  held_until?: number | null;
  finished_at?: number;
  bytes?: number;
  error?: string;
} & Partial<ReturnType<typeof toColumns>>;

const updateRecord = async (store: Store, id: number, change: (now: number) => Change): Promise<void> =>
  await store.write(async ({ db, now }) => {
    await db.updateTable('backups').set(change(now)).where('id', '=', id).execute();
  });

/** Waits until no piece of removal runs that began before the backup. */
const untilNoRemoval = async ({ db }: Store, now: () => number): Promise<void> => {
  const end = now() + maxRemovalWait;
  for (;;) {
    const row = await db
      .selectFrom('work')
      .select('id')
      .where('name', 'in', removalWork)
      .where('locked_until', '>', now())
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return;
    if (now() > end) throw new StartFailure('the removal of a project takes too long: try again later');
    await pause(200);
  }
};

/**
 * Runs a backup under a record in the database, which says how far it is and how it ended.
 * @param work returns the bytes that it added to the destination
 */
export const recordBackup = async <T extends { added: number }>(
  store: Store,
  {
    now,
    getProgress,
    renewal: every = holdDuration / 4,
    ...backup
  }: NewBackup & { now: () => number; getProgress: () => PartProgress | null; renewal?: number },
  work: () => Promise<T>,
): Promise<T> => {
  const id = await insertRecord(store, backup);
  let renewed = Promise.resolve();
  const renew = (): void => {
    const columns = (at: number) => ({ held_until: at + holdDuration, ...toColumns(getProgress(), at) });
    renewed = renewed.then(async () => await updateRecord(store, id, columns)).catch(() => undefined);
  };
  const renewal = setInterval(renew, every);
  // A renewal that commits after the end would hold removals back.
  const stopRenewing = async (): Promise<void> => {
    clearInterval(renewal);
    await renewed;
  };
  try {
    await untilNoRemoval(store, now);
    const done = await work();
    await stopRenewing();
    await updateRecord(store, id, (at) => ({
      held_until: null,
      finished_at: at,
      bytes: done.added,
      ...noProgress,
    }));
    return done;
  } catch (error) {
    await stopRenewing();
    const text = (error as Error).message.slice(0, 1000);
    await updateRecord(store, id, () => ({ held_until: null, error: text, ...noProgress })).catch(
      () => undefined,
    );
    throw error;
  }
};

/**
 * Records whether a backup was restored to a scratch folder and found whole.
 * @param problem what is wrong; null: nothing
 */
export const recordVerification = async (store: Store, name: string, problem: string | null): Promise<void> =>
  await store.write(async ({ db, now }) => {
    const result = problem === null ? { verified_at: now, error: null } : { error: problem.slice(0, 1000) };
    await db
      .updateTable('backups')
      .set({ ...result, ...noProgress })
      .where('name', '=', name)
      .execute();
  });

/** Loads the names of the backups whose last verification found nothing. */
export const loadVerified = async (db: Reader): Promise<Set<string>> => {
  const query = db.selectFrom('backups').select('name');
  const rows = await query.where('verified_at', 'is not', null).where('error', 'is', null).execute();
  return new Set(rows.map(({ name }) => name));
};

/** Records how far the verification of a backup is. */
export const recordProgress = async (store: Store, name: string, progress: PartProgress): Promise<void> =>
  await store.write(async ({ db, now }) => {
    await db.updateTable('backups').set(toColumns(progress, now)).where('name', '=', name).execute();
  });

const toGauge = (name: string, help: string, time: number | null): string[] =>
  time === null ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${time / 1000}`];

/** Formats the times of the last backups as Prometheus text, in seconds; empty before the first. */
export const formatBackupMetrics = async (db: Reader): Promise<string> => {
  const { finished_at, verified_at } = await loadLastBackups(db, Date.now());
  return [
    ...toGauge(
      'gantry_backup_last_success_timestamp',
      'Time of the last backup that ended well',
      finished_at,
    ),
    ...toGauge(
      'gantry_backup_last_verified_timestamp',
      'Time of the last verification of a backup',
      verified_at,
    ),
  ].join('\n');
};
