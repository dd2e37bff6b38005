/**
 * Leases of background work: a process renews the lease of its work, and another takes it over if the process dies.
 * Leases are not synced: work may run twice.
 */
import { sql } from 'kysely';
import { compiled } from '../db/compiled_query.ts';
import type { Store, Tx } from '../db/open.ts';
import { processName } from '../db/process_name.ts';
import { hourMilliseconds } from '../time.ts';

/** Duration of a lease in milliseconds. Longer work renews it. */
export const lease = 60_000;

export const maxAttempts = 20;
const firstPause = 2_000;
const maxPauseMilliseconds = hourMilliseconds;
/** Shorter during an outage, so that work resumes soon after its end. */
const maxOutagePauseMilliseconds = 300_000;
/** Due time of failed work, which never runs. Its row remains for inspection. */
export const never = Number.MAX_SAFE_INTEGER;

export type LeasedWork = {
  id: number;
  name: string;
  payload: string;
  /** Including this attempt. No two workers share a number, so it identifies the holder of the row. */
  attempts: number;
  /** Attempts that do not count towards giving up. */
  excused_attempts: number;
  unique_key: string | null;
  /** `traceparent` of its cause; null: none. */
  trace: string | null;
};

/** Kinds of work: only these, or all except these. */
export type Kinds = { only: readonly string[] } | { except: readonly string[] };

/** All kinds, including future ones. */
export const allKinds: Kinds = { except: [] };

const isOfKinds = (kinds: Kinds) => {
  const [names, word] = 'only' in kinds ? [kinds.only, sql`in`] : [kinds.except, sql`not in`];
  if (names.length === 0) return 'only' in kinds ? sql<boolean>`1 = 0` : sql<boolean>`1 = 1`;
  return sql<boolean>`name ${word} (${sql.join(names.map((name) => sql.lit(name)))})`;
};

/** Over the table `work`: due rows. Work with the same `turn` runs one at a time, the oldest first. */
const isDueAt = (now: number, kinds: Kinds) =>
  sql<boolean>`run_at <= ${now} and (locked_until is null or locked_until < ${now}) and ${isOfKinds(kinds)}
    and (turn is null or not exists (select 1 from work as other
      where other.turn = work.turn and other.id <> work.id
        and (other.locked_until is not null or (other.run_at, other.id) < (work.run_at, work.id))))`;

type At = { now: number };

const makeDueQueries = (kinds: Kinds) => ({
  any: compiled((db, { now }: At) =>
    db.selectFrom('work').select('id').where(isDueAt(now, kinds)).limit(1).compile(),
  ),
  oldest: compiled((db, { now }: At, dialect) =>
    db
      .selectFrom('work')
      .select(['id', 'name', 'payload', 'attempts', 'excused_attempts', 'unique_key', 'trace'])
      .where(isDueAt(now, kinds))
      .orderBy('run_at')
      .orderBy('id')
      .limit(1)
      .modifyEnd(dialect.skipLocked)
      .compile(),
  ),
});

/** Returns a cache key for the kinds. */
export const toKindsKey = (kinds: Kinds): string =>
  'only' in kinds ? `only ${kinds.only.join()}` : `except ${kinds.except.join()}`;

/** Keyed by kinds; the lanes use few combinations. */
const dueQueries = new Map<string, ReturnType<typeof makeDueQueries>>();

const getDueQueries = (kinds: Kinds): ReturnType<typeof makeDueQueries> => {
  const key = toKindsKey(kinds);
  const queries = dueQueries.get(key) ?? makeDueQueries(kinds);
  dueQueries.set(key, queries);
  return queries;
};

/** Returns whether any work is due: cheap, without a transaction. */
export const isDue = async (store: Store, now: number, kinds: Kinds = allKinds): Promise<boolean> =>
  (await getDueQueries(kinds).any(store.db, { now })).length > 0;

type HeldRow = { id: number; attempts: number };

/** Clears the unique key when the row is taken: later changes need another run. */
const holdRow = compiled((db, { id, attempts, until }: HeldRow & { until: number }) =>
  db
    .updateTable('work')
    .set({ locked_until: until, locked_by: processName, attempts, unique_key: null })
    .where('id', '=', id)
    .compile(),
);

const takeOldest = async (
  { db, now }: Tx,
  kinds: Kinds,
  running: readonly number[],
): Promise<LeasedWork | null> => {
  const until = now + lease;
  for (;;) {
    const [row] = await getDueQueries(kinds).oldest(db, { now });
    if (row === undefined) return null;
    const { id } = row;
    // Only its lease is renewed: it expired because the clock was set ahead, or the machine slept.
    const runsHere = running.includes(id);
    const attempts = row.attempts + (runsHere ? 0 : 1);
    await holdRow(db, { id, attempts, until });
    if (!runsHere) return { ...row, attempts };
  }
};

/**
 * Leases the work with the earliest due time; null if none is free.
 * @param running ids of the work that this worker runs, which it never takes again
 */
export const take = async (
  store: Store,
  kinds: Kinds = allKinds,
  running: readonly number[] = [],
): Promise<LeasedWork | null> => {
  try {
    return await store.writeRelaxed(async (tx) => await takeOldest(tx, kinds, running));
  } catch (error) {
    // Another process took work of the same turn at this moment; `work_turn_locked` lets only one run.
    if (store.isUniqueViolation(error)) return null;
    throw error;
  }
};

const unlocked = { locked_until: null, locked_by: null };

const own = (tx: Tx, { id, attempts }: LeasedWork) =>
  tx.db.updateTable('work').where('id', '=', id).where('attempts', '=', attempts);

export const renew = async (store: Store, taken: LeasedWork): Promise<void> => {
  await store.writeRelaxed(
    async (tx) =>
      await own(tx, taken)
        .set({ locked_until: tx.now + lease })
        .execute(),
  );
};

const deleteHeld = compiled((db, { id, attempts }: HeldRow) =>
  db.deleteFrom('work').where('id', '=', id).where('attempts', '=', attempts).compile(),
);

/** Removes a piece that is done, unless another worker has taken it over. */
export const finishIn = async ({ db }: Tx, taken: LeasedWork): Promise<void> =>
  void (await deleteHeld(db, taken));

/** A piece that runs. `noteFinished` is called once its row is gone. */
export type RunningPiece = HeldRow & { noteFinished: () => void };

type HeldRows = { ids: readonly number[]; attempts: number };

const deleteAllHeld = compiled((db, { ids, attempts }: HeldRows, dialect) =>
  db.deleteFrom('work').where(dialect.oneOf('id', ids)).where('attempts', '=', attempts).compile(),
);

/** Removes several pieces that are done in a transaction of their handlers, which then only return. */
export const finishTogether = async (
  { db, afterCommit }: Tx,
  pieces: readonly RunningPiece[],
): Promise<void> => {
  for (const [attempts, some] of Map.groupBy(pieces, (piece) => piece.attempts))
    await deleteAllHeld(db, { ids: some.map(({ id }) => id), attempts });
  afterCommit(() => pieces.forEach(({ noteFinished }) => noteFinished()));
};

export const finish = async (store: Store, taken: LeasedWork): Promise<void> => {
  await store.writeRelaxed(async (tx) => await finishIn(tx, taken));
};

/** Returns the sum of pauses after this many failed attempts, in milliseconds. */
const sumDoublingPauses = (tries: number, maxPause: number): number => {
  const doubled = Math.min(tries, Math.ceil(Math.log2(maxPause / firstPause)));
  return firstPause * (2 ** doubled - 1) + maxPause * (tries - doubled);
};

/**
 * Returns the sum of all pauses of a postponed piece, in milliseconds.
 * @param failures attempts that failed by the work itself
 * @param outages attempts that failed by an outage
 */
export const sumPauses = (failures: number, outages: number): number =>
  sumDoublingPauses(failures, maxPauseMilliseconds) + sumDoublingPauses(outages, maxOutagePauseMilliseconds);

/** Returns the attempts that failed by the work itself. */
export const countAttempts = ({ attempts, excused_attempts }: LeasedWork): number =>
  attempts - excused_attempts;

/**
 * Schedules another attempt after a pause that doubles each time. Drops the row if the same work was enqueued
 * meanwhile.
 * @param isOutage the attempt ended by an outage and does not count
 */
export const postpone = async (
  store: Store,
  taken: LeasedWork,
  error: unknown,
  isOutage = false,
): Promise<void> => {
  const { id, attempts, unique_key } = taken;
  const excused_attempts = taken.excused_attempts + (isOutage ? 1 : 0);
  const [tries, longest] = isOutage
    ? [excused_attempts, maxOutagePauseMilliseconds]
    : [countAttempts(taken), maxPauseMilliseconds];
  const pause = Math.min(firstPause * 2 ** (tries - 1), longest);
  await store.write(async (tx) => {
    if (unique_key !== null && (await isWaiting(tx, unique_key))) {
      await tx.db.deleteFrom('work').where('id', '=', id).where('attempts', '=', attempts).execute();
      return;
    }
    const last_error = toErrorText(error);
    await own(tx, taken)
      .set({ ...unlocked, run_at: tx.now + pause, last_error, unique_key, excused_attempts })
      .execute();
  });
};

const isWaiting = async ({ db }: Tx, uniqueKey: string): Promise<boolean> => {
  const query = db.selectFrom('work').select('id').where('unique_key', '=', uniqueKey);
  return (await query.executeTakeFirst()) !== undefined;
};

/** Marks a piece as failed, not to be retried. */
export const giveUp = async (store: Store, taken: LeasedWork, error: unknown): Promise<void> => {
  const last_error = toErrorText(error);
  await store.write(
    async (tx) =>
      await own(tx, taken)
        .set({ ...unlocked, run_at: never, last_error })
        .execute(),
  );
};

/**
 * Maximum times that the work of an ended process is released before its lease expires. Work that crashes its process
 * waits for its lease afterwards, so that the service can run in between.
 */
const maxFreedLeases = 3;

/** Releases the work of a process that has ended, so that it need not wait for its lease. */
export const releaseWork = async (store: Store, holder: string): Promise<void> => {
  await store.write(
    async ({ db }) =>
      await db
        .updateTable('work')
        .set(unlocked)
        .where('locked_by', '=', holder)
        .where(sql<boolean>`attempts - excused_attempts <= ${maxFreedLeases}`)
        .execute(),
  );
};

/**
 * Releases what this process holds and does not run: an outage of the database kept it from recording the end of a
 * piece, or from learning that it had taken one. The attempt does not count.
 * @param getRunning returns the ids of the pieces that it does run; null: not known yet
 * @returns false if the running ids are not known yet
 */
export const releaseLost = async (
  store: Store,
  getRunning: () => readonly number[] | null,
): Promise<boolean> =>
  await store.write(async ({ db, dialect }) => {
    const running = getRunning();
    if (running === null) return false;
    const lost = db
      .selectFrom('work')
      .select('id')
      .where('locked_by', '=', processName)
      .$if(running.length > 0, (query) => query.where('id', 'not in', running))
      .modifyEnd(dialect.skipLocked);
    await db
      .updateTable('work')
      .set((eb) => ({ ...unlocked, excused_attempts: eb('excused_attempts', '+', 1) }))
      .where('id', 'in', lost)
      .execute();
    return true;
  });

const toErrorText = (error: unknown): string => String(error).replaceAll('\0', '').slice(0, 1000);
