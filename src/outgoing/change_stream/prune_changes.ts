/** Deletes old rows of the change log in the background, in small batches, so that no writer waits for long. */
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Platform } from '../../core/platform.ts';
import type { Reader, Store, Tx } from '../../platform/db/open.ts';
import { Failure } from '../../platform/errors.ts';
import { dayMilliseconds, hourMilliseconds } from '../../platform/time.ts';

/** Row of `instance`: id of the last row that was deleted. */
const prunedUntilName = 'changes_pruned_until';

/** Rows of one transaction. */
const batch = 500;
/** Milliseconds between two batches. */
const pause = 200;
/** Milliseconds until the log is checked again. */
const interval = hourMilliseconds;

/** Returns the id up to which the log was pruned; 0 if it is whole. */
export const readPrunedUntil = async (db: Reader): Promise<number> => {
  const row = await db
    .selectFrom('instance')
    .select('value')
    .where('name', '=', prunedUntilName)
    .executeTakeFirst();
  return Number(row?.value ?? 0);
};

/**
 * Requires that the log still has every change after the given id.
 * @param after 0 means from the oldest kept
 * @throws Failure 410 with the position from which it is whole
 */
export const requireKept = async (db: Reader, after: number | null): Promise<void> => {
  if (after === null || after === 0) return;
  const oldest_after = await readPrunedUntil(db);
  if (after >= oldest_after) return;
  const message = `410 Gone - the log begins after ${oldest_after}: reload the records that you follow, and continue from there`;
  throw new Failure('gone', { message, oldest_after });
};

/** Deletes the oldest rows, at most a batch of them, but never the latest row. @returns how many */
const deleteBatch = async ({ db }: Tx, before: number): Promise<number> => {
  const rows = await db
    .selectFrom('events')
    .select(['id', 'created_at'])
    .where('id', '<', sql<number>`(select max(id) from events)`)
    .orderBy('id')
    .limit(batch)
    .execute();
  const kept = rows.findIndex(({ created_at }) => created_at >= before);
  const old = kept === -1 ? rows : rows.slice(0, kept);
  const last = old.at(-1)?.id;
  if (last === undefined) return 0;
  await db.deleteFrom('events').where('id', '<=', last).execute();
  await db
    .updateTable('instance')
    .set({ value: String(last) })
    .where('name', '=', prunedUntilName)
    // Another service may have deleted more meanwhile.
    .where(sql<boolean>`cast(value as bigint) < ${last}`)
    .execute();
  return old.length;
};

type Parts = Pick<Platform, 'config' | 'log'> & { store: Pick<Store, 'write'> };

const sleep = async (milliseconds: number, signal: AbortSignal): Promise<void> =>
  await wait(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);

/** Deletes all rows older than `changes_retention` days. @param signal ends it after the batch in progress */
export const pruneChanges = async ({ config, store }: Parts, signal: AbortSignal): Promise<void> => {
  if (config.changes_retention === 0) return;
  while (!signal.aborted) {
    const deleted = await store.write(
      async (tx) => await deleteBatch(tx, tx.now - config.changes_retention * dayMilliseconds),
    );
    if (deleted < batch) return;
    await sleep(pause, signal);
  }
};

/** Prunes the log now and periodically. Returns a function that stops it. */
export const startPruning = (parts: Parts): (() => Promise<void>) => {
  const control = new AbortController();
  let running: Promise<void> | undefined;
  const run = (): void => {
    running ??= pruneChanges(parts, control.signal)
      .catch((error: unknown) => parts.log.warn({ err: error }, 'pruning the change log failed'))
      .finally(() => (running = undefined));
  };
  run();
  const timer = setInterval(run, interval).unref();
  return async () => {
    clearInterval(timer);
    control.abort();
    await running;
  };
};
