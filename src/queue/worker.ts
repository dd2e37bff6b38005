/** Runs work that is due: one piece after another, until it is told to stop. */
import type { Logger } from 'pino';
import type { Store } from '../db/open.ts';
import type { Clock } from '../time.ts';
import { makeBell } from './bell.ts';
import { type Payload, type WorkHandler, workTopic } from './queue.ts';
import { type Taken, finish, giveUp, isDue, lease, mostAttempts, postpone, renew, take } from './taken.ts';

/** How often an idle worker looks for what other processes enqueued, in milliseconds. */
const usualPause = 1_000;

export type Worker = {
  /** Resolves when the piece that runs, if any, has ended. */
  stop: () => Promise<void>;
  /** Until nothing is due and nothing runs: for tests and the CLI. */
  drain: () => Promise<void>;
};

export type WorkerParts = {
  store: Store;
  clock: Clock;
  log: Logger;
  handlers: { [name: string]: WorkHandler };
  /** Default: once a second. */
  idlePause?: number;
};

const handle = async ({ handlers }: WorkerParts, { name, payload }: Taken): Promise<void> => {
  const handler = handlers[name];
  if (handler === undefined) throw new Error(`no handler for work "${name}"`);
  await handler(JSON.parse(payload) as Payload);
};

/** Keeps the lease while the piece runs, so that no other takes it over. */
const underLease = async ({ store, log }: WorkerParts, taken: Taken, work: Promise<void>): Promise<void> => {
  const keep = (): void =>
    void renew(store, taken).catch((error: unknown) => log.warn({ err: error }, 'a lease was not renewed'));
  const renewal = setInterval(keep, lease / 3).unref();
  try {
    await work;
  } finally {
    clearInterval(renewal);
  }
};

const runOne = async (parts: WorkerParts, taken: Taken): Promise<void> => {
  const { store, log } = parts;
  const about = { work: taken.name, attempts: taken.attempts };
  if (taken.attempts > mostAttempts) {
    log.error(about, 'work was given up: the process ended each time it ran');
    await giveUp(store, taken, 'the process ended each time it ran');
    return;
  }
  try {
    await underLease(parts, taken, handle(parts, taken));
    await finish(store, taken);
  } catch (error) {
    const isLast = taken.attempts === mostAttempts;
    log[isLast ? 'error' : 'warn']({ err: error, ...about }, isLast ? 'work was given up' : 'work failed');
    await (isLast ? giveUp : postpone)(store, taken, error);
  }
};

/** Starts at once; woken by each commit of this process that enqueues, an idle worker looks now and then. */
export const startWorker = (parts: WorkerParts): Worker => {
  const { store, clock, log, idlePause = usualPause } = parts;
  const bell = makeBell();
  const endListening = store.listen(workTopic, bell.ring);
  let stopping = false;

  /** Whether there was one. */
  const runNext = async (): Promise<boolean> => {
    if (stopping || !(await isDue(store, clock.now()))) return false;
    const taken = await take(store);
    if (taken !== null) await runOne(parts, taken);
    return taken !== null;
  };

  const runAll = async (): Promise<void> => {
    // oxlint-disable-next-line no-await-in-loop -- one piece after another
    while (await runNext());
  };

  /** Whoever asks waits until those who asked before have been served. */
  let last = Promise.resolve();
  const runDue = (): Promise<void> => {
    const run = last.then(runAll);
    last = run.catch(() => undefined);
    return run;
  };

  const round = async (): Promise<void> => {
    try {
      await runDue();
    } catch (error) {
      log.error({ err: error }, 'the work queue failed');
      bell.silence();
    }
    if (!stopping) await bell.wait(idlePause);
  };

  const loop = async (): Promise<void> => {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    while (!stopping) await round();
  };

  const running = loop();
  return {
    stop: async () => {
      stopping = true;
      endListening();
      bell.ring();
      await running;
      await last;
    },
    drain: runDue,
  };
};
