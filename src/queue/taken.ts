/** Work that this process has taken: leased, so that another may take it over where this one dies. */
import { sql } from 'kysely';
import type { Store, Tx } from '../db/open.ts';
import { processName } from '../db/process.ts';

/** Milliseconds. A piece that takes longer renews its lease. */
export const lease = 60_000;

export const mostAttempts = 20;
const firstPause = 2_000;
const longestPause = 3_600_000;
/** During an outage: work goes on soon after its end. */
const longestOutagePause = 300_000;
/** When work that was given up runs: never. Its row stays for somebody to look at. */
export const never = Number.MAX_SAFE_INTEGER;

export type Taken = {
  id: number;
  name: string;
  payload: string;
  /** With this one. No two takers share a number, so it tells whose the row is. */
  attempts: number;
  /** Attempts that do not count towards giving up. */
  excused_attempts: number;
  unique_key: string | null;
};

/** Names of work: these alone, or all but these. */
export type Kinds = { only: readonly string[] } | { except: readonly string[] };

/** Every kind there is, and those that there will be. */
export const everyKind: Kinds = { except: [] };

const isWanted = (kinds: Kinds) => {
  const [names, word] = 'only' in kinds ? [kinds.only, sql`in`] : [kinds.except, sql`not in`];
  if (names.length === 0) return 'only' in kinds ? sql<boolean>`1 = 0` : sql<boolean>`1 = 1`;
  return sql<boolean>`name ${word} (${sql.join(names.map((name) => sql.lit(name)))})`;
};

/** Over the table `work`. The first of a turn alone: also while it runs, or another is about to take it. */
const isDueAt = (now: number, kinds: Kinds) =>
  sql<boolean>`run_at <= ${now} and (locked_until is null or locked_until < ${now}) and ${isWanted(kinds)}
    and (turn is null or not exists (select 1 from work as other
      where other.turn = work.turn and other.id <> work.id
        and (other.locked_until is not null or (other.run_at, other.id) < (work.run_at, work.id))))`;

/** Whether there is something to take: cheap, and no transaction. */
export const isDue = async (store: Store, now: number, kinds: Kinds = everyKind): Promise<boolean> => {
  const query = store.db.selectFrom('work').select('id').where(isDueAt(now, kinds)).limit(1);
  return (await query.executeTakeFirst()) !== undefined;
};

const takeOldest = async (tx: Tx, kinds: Kinds): Promise<Taken | null> => {
  const row = await tx.db
    .selectFrom('work')
    .select(['id', 'name', 'payload', 'attempts', 'excused_attempts', 'unique_key'])
    .where(isDueAt(tx.now, kinds))
    .orderBy('run_at')
    .orderBy('id')
    .limit(1)
    .modifyEnd(tx.words.skipLocked)
    .executeTakeFirst();
  if (row === undefined) return null;
  const attempts = row.attempts + 1;
  // The key is given up with the row: a change from now on is a reason for another run.
  await tx.db
    .updateTable('work')
    .set({ locked_until: tx.now + lease, locked_by: processName, attempts, unique_key: null })
    .where('id', '=', row.id)
    .execute();
  return { ...row, attempts };
};

/** The piece that is due for longest; null for none that another does not have. */
export const take = async (store: Store, kinds: Kinds = everyKind): Promise<Taken | null> => {
  try {
    return await store.write(async (tx) => await takeOldest(tx, kinds));
  } catch (error) {
    // Another process took one of the same turn in this moment: `work_turn_locked` lets one of them run.
    if (store.isUniqueViolation(error)) return null;
    throw error;
  }
};

const unlocked = { locked_until: null, locked_by: null };

const own = (tx: Tx, { id, attempts }: Taken) =>
  tx.db.updateTable('work').where('id', '=', id).where('attempts', '=', attempts);

export const renew = async (store: Store, taken: Taken): Promise<void> => {
  await store.write(
    async (tx) =>
      await own(tx, taken)
        .set({ locked_until: tx.now + lease })
        .execute(),
  );
};

export const finish = async (store: Store, { id, attempts }: Taken): Promise<void> => {
  await store.write(
    async ({ db }) =>
      await db.deleteFrom('work').where('id', '=', id).where('attempts', '=', attempts).execute(),
  );
};

/** Attempts that failed by the work itself. */
export const countedAttempts = ({ attempts, excused_attempts }: Taken): number => attempts - excused_attempts;

/**
 * Has the piece run again after a pause that doubles. Where the same was enqueued meanwhile, that is enough.
 * @param isOutage whether the attempt ended by an outage and does not count
 */
export const postpone = async (
  store: Store,
  taken: Taken,
  error: unknown,
  isOutage = false,
): Promise<void> => {
  const { id, attempts, unique_key } = taken;
  const excused_attempts = taken.excused_attempts + (isOutage ? 1 : 0);
  const [tries, longest] = isOutage
    ? [excused_attempts, longestOutagePause]
    : [countedAttempts(taken), longestPause];
  const pause = Math.min(firstPause * 2 ** (tries - 1), longest);
  await store.write(async (tx) => {
    if (unique_key !== null && (await isWaiting(tx, unique_key))) {
      await tx.db.deleteFrom('work').where('id', '=', id).where('attempts', '=', attempts).execute();
      return;
    }
    const last_error = textOf(error);
    await own(tx, taken)
      .set({ ...unlocked, run_at: tx.now + pause, last_error, unique_key, excused_attempts })
      .execute();
  });
};

const isWaiting = async ({ db }: Tx, uniqueKey: string): Promise<boolean> => {
  const query = db.selectFrom('work').select('id').where('unique_key', '=', uniqueKey);
  return (await query.executeTakeFirst()) !== undefined;
};

/** Leaves the piece as it is, for good. */
export const giveUp = async (store: Store, taken: Taken, error: unknown): Promise<void> => {
  const last_error = textOf(error);
  await store.write(
    async (tx) =>
      await own(tx, taken)
        .set({ ...unlocked, run_at: never, last_error })
        .execute(),
  );
};

/** How often a piece is freed: one that ends whoever runs it leaves the service a lease to live in between. */
const mostFreed = 3;

/** Frees what a process held that has ended: it need not wait for its lease. */
export const freeWorkOf = async (store: Store, holder: string): Promise<void> => {
  await store.write(
    async ({ db }) =>
      await db
        .updateTable('work')
        .set(unlocked)
        .where('locked_by', '=', holder)
        .where(sql<boolean>`attempts - excused_attempts <= ${mostFreed}`)
        .execute(),
  );
};

const textOf = (error: unknown): string => String(error).replaceAll('\0', '').slice(0, 1000);
