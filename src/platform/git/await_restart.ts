/**
 * Decides how long calls wait for a remote storage that is away. One that answered until now is given time to start
 * again. One that stays away is refused at once, so that requests do not pile up.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { type GitFailure, isGitFailure, storageUnavailable } from './failure.ts';

/** Milliseconds in which a storage may come back: after it was lost, and after it announced its stop. */
export type RestartLimits = { lost: number; announced: number };

const usualLimits: RestartLimits = { lost: 10_000, announced: 60_000 };

/** Milliseconds between two attempts to connect while calls wait. */
const attemptPause = 100;
/** Milliseconds in which calls are refused without an attempt, after a storage was given up. */
const refusalTime = 1_000;
/** Calls that wait at once for one storage; more are refused. */
const maxWaitingCalls = 256;
/** Milliseconds of connecting after which a storage seems away, so that only so many calls may connect. */
const slowOpening = 1_000;
/** Milliseconds by which a timer may be early. */
const timerSlack = 2;

const unwaitingWork = new AsyncLocalStorage<{ isRunning: boolean }>();

/**
 * Runs work that a storage waits for, such as the authorization of a push. Until it ends, its calls do not wait for a
 * restart: a storage that stops would wait for the work, and the work for the next gitd.
 */
export const withoutRestartWait = async <T>(work: () => Promise<T>): Promise<T> => {
  const context = { isRunning: true };
  try {
    return await unwaitingWork.run(context, work);
  } finally {
    context.isRunning = false; // what the work started continues as usual
  }
};

const mayWait = (): boolean => unwaitingWork.getStore()?.isRunning !== true;

/** What ends the wait of a call sooner. */
type CallLimits = { signal?: AbortSignal | undefined; seconds?: number | undefined };

export type RestartWait = {
  /**
   * Connects by `open`; if the storage is away, once it is back.
   * @param discard closes what is opened after the call has given up
   * @throws GitFailure `unavailable`
   */
  connect: <T>(open: () => Promise<T>, limits: CallLimits, discard?: (late: T) => void) => Promise<T>;
  /** Called at each new connection for calls. */
  noteReached: () => void;
  /** Called when the storage announces that it stops. */
  noteStopping: () => void;
  /** Ends all attempts to connect. */
  stop: () => void;
};

/** Attempts to connect, for all waiting calls. */
type Outage = {
  /** Resolves when the storage is reached; rejects when it is given up. */
  attempts: Promise<void>;
  /** When calls stop waiting. */
  until: number;
};

const asFailure = (error: unknown): GitFailure =>
  isGitFailure(error) ? error : storageUnavailable((error as Error).message);

/** Rejects at a time, or when the caller aborts. Never settles after `timer` is aborted. */
const rejectAt = async (
  time: number,
  caller: AbortSignal | undefined,
  timer: AbortSignal,
): Promise<never> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const isLate =
    time === Infinity ? null : wait(Math.max(0, time - performance.now()), true, { signal: timer });
  const late = (): void => reject(storageUnavailable('the repository storage did not start again in time'));
  isLate?.then(late, () => undefined);
  const onAbort = (): void => reject(caller?.reason as Error);
  caller?.addEventListener('abort', onAbort, { once: true, signal: timer });
  return await promise;
};

/** A call that waits since `began`, and until `deadline` at the latest. */
type WaitingCall = { signal: AbortSignal | undefined; began: number; deadline: number };

/** Waits for work, at most as long as the call allows. */
const waitUntil = async <T>(
  work: Promise<T>,
  until: number,
  { signal, deadline }: WaitingCall,
): Promise<T> => {
  const timer = new AbortController();
  try {
    signal?.throwIfAborted();
    return await Promise.race([work, rejectAt(Math.min(until, deadline), signal, timer.signal)]);
  } finally {
    timer.abort();
  }
};

/** Connects until it succeeds: at least once, and until a time or the stop. */
const attemptUntil = async (
  probe: () => Promise<unknown>,
  until: number,
  isStopped: () => boolean,
): Promise<void> => {
  for (;;) {
    try {
      return void (await probe());
    } catch (error) {
      if (isStopped() || performance.now() + attemptPause > until) throw error;
      await wait(attemptPause, undefined, { ref: false });
    }
  }
};

/** Keeps whether a storage is reached, and the attempts to connect while it is not. */
const watchOutages = (probe: () => Promise<unknown>, limits: RestartLimits) => {
  /** null: no attempt is in progress. */
  let outage: Outage | null = null;
  /** The last failure, if the storage was given up; calls are refused until the time. */
  let givenUp: { why: GitFailure; until: number } | null = null;
  let isReached = false;
  let stopAnnounced = -Infinity;
  let isStopped = false;

  /** @param attemptsUntil when the last attempt begins */
  const beginOutage = (attemptsUntil: number, until: number): Outage => {
    const attempts = attemptUntil(probe, attemptsUntil, () => isStopped);
    const next: Outage = { attempts, until };
    [outage, isReached] = [next, false];
    const end = (failure: GitFailure | null): void => {
      if (outage === next) outage = null;
      isReached = failure === null;
      if (isReached) stopAnnounced = -Infinity; // one that stops accepts no connections
      givenUp = failure === null ? null : { why: failure, until: performance.now() + refusalTime };
    };
    attempts.then(
      () => end(null),
      (error: unknown) => end(asFailure(error)),
    );
    return next;
  };

  /** Returns until when a call waits for a storage that was lost at a time. */
  const getPatience = (lostAt: number): number =>
    Math.max(stopAnnounced + limits.announced, lostAt + limits.lost);

  /**
   * Returns the attempts that a call waits for, and begins them if necessary.
   * @param lostAt when the storage was lost, if it was reached until then
   */
  const join = (lostAt: number): Outage => {
    const now = performance.now();
    if (outage !== null) return outage;
    if (isReached) return beginOutage(getPatience(lostAt), getPatience(lostAt));
    if (givenUp === null) return beginOutage(now, Infinity);
    if (now < givenUp.until) throw givenUp.why;
    return beginOutage(now, now + refusalTime);
  };

  return {
    join,
    /** @throws GitFailure if the storage is away */
    requireNone: (): void => {
      if (outage !== null) throw storageUnavailable('the repository storage is away');
    },
    getPatience,
    isReached: (): boolean => isReached,
    noteReached: (): void => {
      isReached = true;
      givenUp = null;
    },
    noteStopping: (): void => void (stopAnnounced = performance.now()),
    stop: (): void => void (isStopped = true),
  };
};

type Opening<T> = { open: () => Promise<T>; discard: ((late: T) => void) | undefined };

const tooManyWait = (): GitFailure => storageUnavailable('too many calls wait for the repository storage');

/** @param limit milliseconds in which a storage that seems reachable must be connected */
const makeOpener = (limit: number) => {
  const openings = new Set<WaitingCall>();

  /** @throws GitFailure if many calls already wait for a connection: the machine may be gone without a sign */
  const requireRoom = ({ began }: WaitingCall): void => {
    const [oldest] = openings;
    const isStuck = oldest !== undefined && began - oldest.began > slowOpening;
    if (isStuck && openings.size >= maxWaitingCalls) throw tooManyWait();
  };

  /** Connects to a storage that seems reachable, within the limits. */
  const openNow = async <T>({ open, discard }: Opening<T>, call: WaitingCall): Promise<T> => {
    openings.add(call);
    const opening = open();
    try {
      return await waitUntil(opening, call.began + limit, call);
    } catch (error) {
      if (discard !== undefined) void opening.then(discard, () => undefined);
      throw error;
    } finally {
      openings.delete(call);
    }
  };
  return { requireRoom, openNow };
};

/** @param probe connects to the storage; attempts at the same time share a connection */
export const makeRestartWait = (
  probe: () => Promise<unknown>,
  limits: RestartLimits = usualLimits,
): RestartWait => {
  const outages = watchOutages(probe, limits);
  let waiting = 0;
  const { requireRoom, openNow } = makeOpener(limits.lost);

  const untilReached = async (call: WaitingCall): Promise<void> => {
    const { attempts, until } = outages.join(call.began);
    if (waiting >= maxWaitingCalls) throw tooManyWait();
    waiting += 1;
    try {
      await waitUntil(attempts, until, call);
    } finally {
      waiting -= 1;
    }
  };

  const { noteReached, noteStopping, stop } = outages;
  return {
    connect: async (open, { signal, seconds = Infinity }, discard) => {
      signal?.throwIfAborted();
      const opening = { open, discard };
      const began = performance.now();
      const call = { signal, began, deadline: began + seconds * 1_000 };
      if (!mayWait()) {
        outages.requireNone();
        return await openNow(opening, call);
      }
      if (!outages.isReached()) await untilReached(call);
      requireRoom({ ...call, began: performance.now() });
      for (let isAgain = false; ; isAgain = true) {
        const attempt = { ...call, began: performance.now() };
        try {
          return await openNow(opening, attempt);
        } catch (error) {
          const now = performance.now();
          const isOver = now + timerSlack >= call.deadline || (isAgain && now >= outages.getPatience(began));
          if (isOver || !isGitFailure(error, 'unavailable')) throw error;
        }
        await untilReached(attempt);
        // A storage that stops refuses new connections while the one for calls is still open.
        if (isAgain) await wait(attemptPause, undefined, { ref: false });
      }
    },
    noteReached,
    noteStopping,
    stop,
  };
};
