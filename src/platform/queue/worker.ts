/** Runs due work, oldest first, as much at once as the lanes allow, until stopped. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import type { Store, Tx } from '../db/open.ts';
import type { Clock } from '../time.ts';
import { type IdleKinds, isOfKinds, makeIdleKinds } from './idle_kinds.ts';
import { offerRoom } from './start_at_once.ts';
import { makeWakeup } from './wakeup.ts';
import { type Lane, getKindsToTake, singleLane } from './lanes.ts';
import { type Payload, type WorkHandler, workTopic } from './enqueue.ts';
import {
  type LeasedWork,
  countAttempts,
  finish,
  finishIn,
  giveUp,
  isDue,
  lease,
  maxAttempts,
  postpone,
  releaseLost,
  renew,
  take,
} from './leases.ts';

/** Milliseconds between two polls of an idle worker for work that other processes enqueued. */
const usualPause = 1_000;

export type Worker = {
  /** Stops taking work. Resolves when running work has ended. */
  stop: () => Promise<void>;
  /** Resolves when nothing is due and nothing runs; for tests and the CLI. */
  drain: () => Promise<void>;
};

export type WorkerParts = {
  store: Store;
  clock: Clock;
  log: Logger;
  handlers: { [name: string]: WorkHandler };
  /** Tells whether a failure is an outage, which never leads to giving up. Default: none is. */
  isOutage?: (error: unknown) => boolean;
  /** Default: one piece at a time. */
  lanes?: readonly Lane[];
  /** Milliseconds; default: one second. */
  idlePause?: number;
};

type RunnerParts = WorkerParts & { stopping: AbortSignal };

/** Runs the handler. Tells whether it has finished the piece itself. */
const handle = async ({ handlers, stopping }: RunnerParts, taken: LeasedWork): Promise<boolean> => {
  const { name, payload, trace: traceparent } = taken;
  const handler = handlers[name];
  if (handler === undefined) throw new Error(`no handler for work "${name}"`);
  let isFinished = false;
  const finishNow = async (tx: Tx): Promise<void> => {
    await finishIn(tx, taken);
    // A transaction that is tried again may come to another end.
    tx.afterCommit(() => void (isFinished = true));
  };
  await handler(JSON.parse(payload) as Payload, { traceparent, stopping, finishIn: finishNow });
  return isFinished;
};

/** Renews the lease while the piece runs, so that no other process takes it over. */
const underLease = async <T>(
  { store, log }: WorkerParts,
  taken: LeasedWork,
  work: Promise<T>,
): Promise<T> => {
  const keep = (): void =>
    void renew(store, taken).catch((error: unknown) => log.warn({ err: error }, 'could not renew a lease'));
  const renewal = setInterval(keep, lease / 3).unref();
  try {
    return await work;
  } finally {
    clearInterval(renewal);
  }
};

/** Postpones the piece, or marks it as failed after too many attempts. */
const fail = async (
  { store, log, isOutage }: WorkerParts,
  taken: LeasedWork,
  error: unknown,
): Promise<void> => {
  const about = { err: error, work: taken.name, attempts: taken.attempts };
  if (isOutage?.(error) === true) {
    log.warn(about, 'work postponed by an outage');
    return await postpone(store, taken, error, true);
  }
  const isLast = countAttempts(taken) >= maxAttempts;
  log[isLast ? 'error' : 'warn'](about, isLast ? 'work was given up' : 'work failed');
  await (isLast ? giveUp : postpone)(store, taken, error);
};

const runOne = async (parts: RunnerParts, taken: LeasedWork): Promise<void> => {
  const { store, log } = parts;
  const about = { work: taken.name, attempts: taken.attempts };
  if (countAttempts(taken) > maxAttempts) {
    log.error(about, 'work failed: the process ended at each attempt');
    await giveUp(store, taken, 'the process ended each time it ran');
    return;
  }
  try {
    if (await underLease(parts, taken, handle(parts, taken))) return;
    await finish(store, taken);
  } catch (error) {
    await fail(parts, taken, error);
  }
};

/** Whether the store cannot be written at the moment. */
const isStoreAway = ({ store, isOutage }: WorkerParts, error: unknown): boolean =>
  isOutage?.(error) === true || store.isUnreachable(error) || store.isStoreFull(error);

/** @property id null: the piece starts with a commit that is not done */
type Piece = { name: string; id: number | null };

/** Returns the ids of pieces; null: one of them starts with a commit that is not done. */
const idsOf = (pieces: readonly Piece[]): number[] | null => {
  const ids = pieces.map(({ id }) => id);
  return ids.includes(null) ? null : ids.filter((id) => id !== null);
};

/** Tracks running work, and calls back when a piece ends, whatever its outcome. */
const makeRunning = (parts: RunnerParts, onEnd: (name: string) => void) => {
  const pieces = new Map<Promise<void>, Piece>();
  let changes = 0;
  let mayHoldMore = false;
  const add = (piece: Piece, run: Promise<void>): void => {
    const failed = (error: unknown): void => {
      parts.log.error({ err: error }, 'the work queue failed');
      running.noteFailure(error);
    };
    const ended: Promise<void> = run.catch(failed).finally(() => {
      pieces.delete(ended);
      changes += 1;
      onEnd(piece.name);
    });
    pieces.set(ended, piece);
    changes += 1;
  };
  const outsideOfRequests = AsyncLocalStorage.snapshot();
  const running = {
    names: (): string[] => [...pieces.values()].map(({ name }) => name),
    /** Notes a failure of the store that may leave rows leased to this process that it does not run. */
    noteFailure: (error: unknown): void => void (mayHoldMore ||= isStoreAway(parts, error)),
    /** Releases those rows. */
    releaseLost: async (): Promise<void> => {
      if (!mayHoldMore) return;
      mayHoldMore = false;
      try {
        mayHoldMore = !(await releaseLost(parts.store, () => idsOf([...pieces.values()])));
      } catch (error) {
        // Other work need not wait for it.
        mayHoldMore = true;
        parts.log.warn({ err: error }, 'could not release work');
      }
    },
    /** Returns how often a piece began or ended. */
    changes: (): number => changes,
    start: (taken: LeasedWork): void => add(taken, runOne(parts, taken)),
    /** Keeps room for a piece. Returns the function that starts it; null: it will not come. */
    keepRoom: (name: string): ((taken: LeasedWork | null) => void) => {
      const { promise, resolve } = Promise.withResolvers<LeasedWork | null>();
      const piece: Piece = { name, id: null };
      const run = async (): Promise<void> => {
        const taken = await promise;
        if (taken !== null) await runOne(parts, taken);
      };
      outsideOfRequests(() => add(piece, run()));
      return (taken) => {
        piece.id = taken?.id ?? null;
        resolve(taken);
      };
    },
    untilOneEnds: async (): Promise<void> => await Promise.race(pieces.keys()),
    untilAllEnd: async (): Promise<void> => void (await Promise.all(pieces.keys())),
  };
  return running;
};

type Running = ReturnType<typeof makeRunning>;

/** Starts due work within the capacity of the lanes. `stop` is final. */
const makeStarter = (
  { store, clock, lanes = singleLane }: WorkerParts,
  running: Running,
  idleKinds: IdleKinds,
) => {
  let stopped = false;

  /** Starts one piece; false if none is due. */
  const startNext = async (): Promise<boolean> => {
    const kinds = getKindsToTake(lanes, running.names());
    if (stopped || kinds === null || idleKinds.isIdle(kinds)) return false;
    const noteIdle = idleKinds.startLook(kinds);
    if (!(await isDue(store, clock.now(), kinds))) {
      noteIdle();
      return false;
    }
    const taken = await take(store, kinds);
    if (taken !== null) running.start(taken);
    return taken !== null;
  };

  const startAll = async (): Promise<void> => {
    try {
      await running.releaseLost();
      while (await startNext());
    } catch (error) {
      running.noteFailure(error);
      throw error;
    }
  };

  /** Serialize callers: two at once would exceed the capacity of a lane. */
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

/** Lets transactions start work, where this process has the database for itself. Returns a function that ends this. */
const offerRoomOf = (
  { store, handlers, lanes = singleLane }: WorkerParts,
  running: Running,
  isStopping: () => boolean,
): (() => void) => {
  if (store.dialect.engine !== 'sqlite') return () => undefined;
  return offerRoom(store.db, (name) => {
    const kinds = getKindsToTake(lanes, running.names());
    const hasRoom = kinds !== null && isOfKinds(kinds, name) && Object.hasOwn(handlers, name);
    return hasRoom && !isStopping() ? running.keepRoom(name) : null;
  });
};

/** Starts a worker. Commits of this process that enqueue work wake it; otherwise it polls. */
export const startWorker = (parts: WorkerParts): Worker => {
  const { store, log, idlePause = usualPause } = parts;
  const bell = makeWakeup();
  const idleKinds = makeIdleKinds(idlePause);
  const endListening = store.listen(workTopic, () => {
    idleKinds.forgetAll();
    bell.wakeUp();
  });
  const control = new AbortController();
  const running = makeRunning({ ...parts, stopping: control.signal }, (name) => {
    idleKinds.forget(name);
    bell.wakeUp();
  });
  const { startDue, stop } = makeStarter(parts, running, idleKinds);
  let stopping = false;
  const endOffer = offerRoomOf(parts, running, () => stopping);

  const drain = async (): Promise<void> => {
    for (let before = -1; before !== running.changes();) {
      before = running.changes();
      idleKinds.forgetAll();
      await startDue();
      if (running.names().length > 0) await running.untilOneEnds();
    }
  };

  const round = async (): Promise<void> => {
    try {
      await startDue();
    } catch (error) {
      log.error({ err: error }, 'the work queue failed');
      bell.reset();
    }
    if (!stopping) await bell.wait(idlePause);
  };

  const loop = async (): Promise<void> => {
    while (!stopping) await round();
  };

  const looking = loop();
  return {
    stop: async () => {
      stopping = true;
      endOffer();
      control.abort();
      endListening();
      bell.wakeUp();
      await Promise.all([looking, stop()]);
      await running.untilAllEnd();
    },
    drain,
  };
};
