/** Runs due work, oldest first, with the concurrency of the lanes, until stopped. */
import { type IdleKinds, isOfKinds, makeIdleKinds } from './idle_kinds.ts';
import { offerSlots } from './lease_at_commit.ts';
import { makeWakeup } from './wakeup.ts';
import { getKindsToTake, singleLane } from './lanes.ts';
import { registerWorker, workTopic } from './announce_work.ts';
import { isDue, take } from './leases.ts';
import { type SetBackTo, mendTimes } from './mend_times.ts';
import { watchClock } from '../time.ts';
import type { WorkerParts } from './run_work.ts';
import { type Running, makeRunning } from './running_work.ts';

/**
 * Milliseconds between two polls of an idle worker, for work that became due, whose lease ended, or of which another
 * process did not notify this one.
 */
const usualPause = 1_000;

export type Worker = {
  /** Stops taking work. Resolves when running work has ended. */
  stop: () => Promise<void>;
  /** Resolves when nothing is due and nothing runs; for tests and the CLI. */
  drain: () => Promise<void>;
};

/** Starts due work within the capacity of the lanes. `stop` is final. */
const makeStarter = (
  { store, clock, lanes = singleLane, pausing = [] }: WorkerParts,
  running: Running,
  idleKinds: IdleKinds,
) => {
  let stopped = false;
  const readStep = watchClock();
  let setBackTo: SetBackTo | null = 'unknown';

  const mendAfterStep = async (now: number): Promise<void> => {
    const step = readStep(now);
    if (step !== null && step.by < 0)
      setBackTo = typeof setBackTo === 'number' ? Math.min(setBackTo, step.earliest) : step.earliest;
    if (setBackTo === null) return;
    await mendTimes(store, setBackTo, pausing);
    setBackTo = null;
    idleKinds.forgetAll();
  };

  /** Starts one piece of work; false if none is due. */
  const startNext = async (): Promise<boolean> => {
    const kinds = getKindsToTake(lanes, running.names());
    if (stopped || kinds === null || idleKinds.isIdle(kinds)) return false;
    const now = clock.now();
    await mendAfterStep(now);
    const noteIdle = idleKinds.startLook(kinds);
    if (!(await isDue(store, now, kinds))) {
      noteIdle();
      return false;
    }
    const taken = await take(store, kinds, running.ids());
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

  /** Serialize callers: two concurrent callers would exceed the capacity of a lane. */
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

/**
 * Lets transactions that enqueue work know whether this worker can start it. On SQLite they lease it for the worker at
 * commit, because no other process uses the database. Returns a function that ends this.
 */
const offerRoom = (
  { store, handlers, lanes = singleLane, quietTime }: WorkerParts,
  running: Running,
  isStopping: () => boolean,
): (() => void) => {
  const hasRoom = (name: string): boolean => {
    const kinds = getKindsToTake(lanes, running.names());
    const isFree = kinds !== null && isOfKinds(kinds, name) && Object.hasOwn(handlers, name);
    return isFree && !isStopping();
  };
  const endRegistration = registerWorker(store.db, hasRoom, quietTime);
  if (store.dialect.engine !== 'sqlite') return endRegistration;
  const endOffer = offerSlots(store.db, (name) => (hasRoom(name) ? running.reserveSlot(name) : null));
  return () => {
    endOffer();
    endRegistration();
  };
};

/**
 * Starts a worker. Commits of this process that enqueue work wake it, and those of processes without room for their
 * work; otherwise it polls.
 */
export const startWorker = (parts: WorkerParts): Worker => {
  const { store, log, idlePause = usualPause } = parts;
  const wakeup = makeWakeup();
  const idleKinds = makeIdleKinds(idlePause);
  const endListening = store.listen(workTopic, () => {
    idleKinds.forgetAll();
    wakeup.wakeUp();
  });
  const control = new AbortController();
  const running = makeRunning({ ...parts, stopping: control.signal }, (name) => {
    idleKinds.forget(name);
    wakeup.wakeUp();
  });
  const { startDue, stop } = makeStarter(parts, running, idleKinds);
  let stopping = false;
  const endOffer = offerRoom(parts, running, () => stopping);

  const drain = async (): Promise<void> => {
    for (let before = -1; before !== running.changes();) {
      before = running.changes();
      idleKinds.forgetAll();
      await startDue();
      if (running.names().length > 0) await running.waitForOne();
    }
  };

  const round = async (): Promise<void> => {
    try {
      await startDue();
    } catch (error) {
      log.error({ err: error }, 'the work queue failed');
      wakeup.reset();
    }
    if (!stopping) await wakeup.wait(idlePause);
  };

  const loop = async (): Promise<void> => {
    while (!stopping) await round();
  };

  const polling = loop();
  return {
    stop: async () => {
      stopping = true;
      endOffer();
      control.abort();
      endListening();
      wakeup.wakeUp();
      await Promise.all([polling, stop()]);
      await running.waitForAll();
    },
    drain,
  };
};
