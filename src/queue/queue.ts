/**
 * Work for later: a table of rows, each a name and a payload, written in the transaction of its cause and taken
 * under a lease. Work must be safe to run twice: a process may die between doing it and saying so.
 */
import type { Logger } from 'pino';
import type { Store, Tx } from '../db/open.ts';
import type { Clock } from '../time.ts';

export type Payload = { [name: string]: number | string | boolean | null };
export type WorkHandler = (payload: Payload) => Promise<void>;

const lease = 5 * 60_000;
const idlePause = 1_000;
const mostAttempts = 20;
const longestPause = 3_600_000;

/** Enqueues one piece of work. With a `unique_key`, nothing is added while such a row waits. */
export const enqueue = async (
  tx: Tx,
  name: string,
  payload: Payload,
  options: { unique_key?: string; run_at?: number } = {},
): Promise<void> => {
  await tx.db
    .insertInto('work')
    .values({
      name,
      payload: JSON.stringify(payload),
      unique_key: options.unique_key ?? null,
      run_at: options.run_at ?? tx.now,
      locked_until: null,
      last_error: null,
      created_at: tx.now,
    })
    .onConflict((clash) => clash.column('unique_key').doNothing())
    .execute();
};

type Taken = { id: number; name: string; payload: string; attempts: number };

const take = async (store: Store): Promise<Taken | null> =>
  await store.write(async (tx) => {
    let query = tx.db
      .selectFrom('work')
      .select(['id', 'name', 'payload', 'attempts'])
      .where('run_at', '<=', tx.now)
      .where((when) => when.or([when('locked_until', 'is', null), when('locked_until', '<', tx.now)]))
      .orderBy('run_at')
      .orderBy('id')
      .limit(1);
    if (tx.words.engine === 'postgres') query = query.forUpdate().skipLocked();
    const row = await query.executeTakeFirst();
    if (row === undefined) return null;
    // The key is given up with the row: a change from now on is a reason for another run.
    await tx.db
      .updateTable('work')
      .set({ locked_until: tx.now + lease, attempts: row.attempts + 1, unique_key: null })
      .where('id', '=', row.id)
      .execute();
    return row;
  });

const isDue = async (store: Store, now: number): Promise<boolean> => {
  const row = await store.db
    .selectFrom('work')
    .select('id')
    .where('run_at', '<=', now)
    .where((when) => when.or([when('locked_until', 'is', null), when('locked_until', '<', now)]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

const finish = async (store: Store, id: number): Promise<void> => {
  await store.write(async ({ db }) => await db.deleteFrom('work').where('id', '=', id).execute());
};

const postpone = async (store: Store, { id, attempts }: Taken, error: unknown): Promise<void> => {
  const pause = Math.min(1_000 * 2 ** attempts, longestPause);
  const dead = attempts + 1 >= mostAttempts;
  await store.write(
    async ({ db, now }) =>
      await db
        .updateTable('work')
        .set({
          locked_until: null,
          run_at: dead ? Number.MAX_SAFE_INTEGER : now + pause,
          last_error: String(error).slice(0, 1000),
        })
        .where('id', '=', id)
        .execute(),
  );
};

export type Worker = { stop: () => Promise<void>; /** Until nothing is due: for tests and the CLI. */ drain: () => Promise<void> };

export type WorkerParts = {
  store: Store;
  clock: Clock;
  log: Logger;
  handlers: { [name: string]: WorkHandler };
};

const runOne = async ({ store, log, handlers }: WorkerParts, taken: Taken): Promise<void> => {
  try {
    const handler = handlers[taken.name];
    if (handler === undefined) throw new Error(`no handler for work "${taken.name}"`);
    await handler(JSON.parse(taken.payload) as Payload);
    await finish(store, taken.id);
  } catch (error) {
    log.warn({ err: error, work: taken.name, attempts: taken.attempts + 1 }, 'work failed');
    await postpone(store, taken, error);
  }
};

/** Takes due work one piece after another; an idle worker looks once a second. */
export const startWorker = (parts: WorkerParts): Worker => {
  let stopping = false;
  let wake: () => void = () => undefined;

  const runDue = async (): Promise<void> => {
    while (!stopping && (await isDue(parts.store, parts.clock.now()))) {
      const taken = await take(parts.store);
      if (taken === null) return;
      await runOne(parts, taken);
    }
  };

  const loop = async (): Promise<void> => {
    while (!stopping) {
      await runDue().catch((error: unknown) => parts.log.error({ err: error }, 'the work queue failed'));
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, idlePause);
        timer.unref();
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };

  const running = loop();
  return {
    stop: async () => {
      stopping = true;
      wake();
      await running;
    },
    drain: runDue,
  };
};
