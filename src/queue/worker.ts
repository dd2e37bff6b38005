/** Runs work that is due, the oldest first, as many pieces at once as the lanes have room for, until it is told to stop. */
import type { Logger } from 'pino';
import type { Store } from '../db/open.ts';
import type { Clock } from '../time.ts';
import { makeBell } from './bell.ts';
import { type Lane, kindsToTake, oneLane } from './lanes.ts';
import { type Payload, type WorkHandler, workTopic } from './queue.ts';
import {
  type Taken,
  countedAttempts,
  finish,
  giveUp,
  isDue,
  lease,
  mostAttempts,
  postpone,
  renew,
  take,
} from './taken.ts';

/** How often an idle worker looks for what other processes enqueued, in milliseconds. */
const usualPause = 1_000;

export type Worker = {
  /** Resolves when the pieces that run, if any, have ended. */
  stop: () => Promise<void>;
  /** Until nothing is due and nothing runs: for tests and the CLI. */
  drain: () => Promise<void>;
};

export type WorkerParts = {
  store: Store;
  clock: Clock;
  log: Logger;
  handlers: { [name: string]: WorkHandler };
  /** Whether a failure is an outage, for which work is never given up. Default: none is. */
  isOutage?: (error: unknown) => boolean;
  /** Default: one piece after another. */
  lanes?: readonly Lane[];
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

/** Postpones the piece, or gives it up where it failed too often by itself. */
const fail = async ({ store, log, isOutage }: WorkerParts, taken: Taken, error: unknown): Promise<void> => {
  const about = { err: error, work: taken.name, attempts: taken.attempts };
  if (isOutage?.(error) === true) {
    log.warn(about, 'work is postponed by an outage');
    return await postpone(store, taken, error, true);
  }
  const isLast = countedAttempts(taken) >= mostAttempts;
  log[isLast ? 'error' : 'warn'](about, isLast ? 'work was given up' : 'work failed');
  await (isLast ? giveUp : postpone)(store, taken, error);
};

const runOne = async (parts: WorkerParts, taken: Taken): Promise<void> => {
  const { store, log } = parts;
  const about = { work: taken.name, attempts: taken.attempts };
  if (countedAttempts(taken) > mostAttempts) {
    log.error(about, 'work was given up: the process ended each time it ran');
    await giveUp(store, taken, 'the process ended each time it ran');
    return;
  }
  try {
    await underLease(parts, taken, handle(parts, taken));
    await finish(store, taken);
  } catch (error) {
    await fail(parts, taken, error);
  }
};

/** Pieces that run; each tells when it has ended, however it did. */
const makeRunning = (parts: WorkerParts, onEnd: () => void) => {
  const pieces = new Map<Promise<void>, string>();
  let changes = 0;
  return {
    names: (): string[] => [...pieces.values()],
    /** How often a piece began or ended. */
    changes: (): number => changes,
    start: (taken: Taken): void => {
      const failed = (error: unknown): void => parts.log.error({ err: error }, 'the work queue failed');
      const piece: Promise<void> = runOne(parts, taken)
        .catch(failed)
        .finally(() => {
          pieces.delete(piece);
          changes += 1;
          onEnd();
        });
      pieces.set(piece, taken.name);
      changes += 1;
    },
    untilOneEnds: async (): Promise<void> => await Promise.race(pieces.keys()),
    untilAllEnd: async (): Promise<void> => void (await Promise.all(pieces.keys())),
  };
};

type Running = ReturnType<typeof makeRunning>;

/** Starts what is due, as far as there is room. `stop` is final. */
const makeStarter = ({ store, clock, lanes = oneLane }: WorkerParts, running: Running) => {
  let stopped = false;

  /** Whether there was one. */
  const startNext = async (): Promise<boolean> => {
    const kinds = kindsToTake(lanes, running.names());
    if (stopped || kinds === null || !(await isDue(store, clock.now(), kinds))) return false;
    const taken = await take(store, kinds);
    if (taken !== null) running.start(taken);
    return taken !== null;
  };

  const startAll = async (): Promise<void> => {
    // oxlint-disable-next-line no-await-in-loop -- the oldest first
    while (await startNext());
  };

  /** Whoever asks waits until those who asked before have been served: two at once would overfill a lane. */
  let last = Promise.resolve();
  return {
    startDue: (): Promise<void> => {
      const start = last.then(startAll);
      last = start.catch(() => undefined);
      return start;
    },
    stop: async (): Promise<void> => {
      stopped = true;
      await last;
    },
  };
};

/** Starts at once; woken by each commit of this process that enqueues, an idle worker looks now and then. */
export const startWorker = (parts: WorkerParts): Worker => {
  const { store, log, idlePause = usualPause } = parts;
  const bell = makeBell();
  const endListening = store.listen(workTopic, bell.ring);
  const running = makeRunning(parts, bell.ring);
  const { startDue, stop } = makeStarter(parts, running);
  let stopping = false;

  const drain = async (): Promise<void> => {
    for (let before = -1; before !== running.changes();) {
      before = running.changes();
      // oxlint-disable-next-line no-await-in-loop -- what ended may have left room, or other work
      await startDue();
      // oxlint-disable-next-line no-await-in-loop
      if (running.names().length > 0) await running.untilOneEnds();
    }
  };

  const round = async (): Promise<void> => {
    try {
      await startDue();
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

  const looking = loop();
  return {
    stop: async () => {
      stopping = true;
      endListening();
      bell.ring();
      await Promise.all([looking, stop()]);
      await running.untilAllEnd();
    },
    drain,
  };
};
