/**
 * Decides how long calls wait for a remote storage that is away. One that answered until now is given time to start
 * again. One that stays away is refused at once, so that requests do not pile up.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { type GitFailure, isGitFailure, storageUnavailable } from './failure.ts';

/** Milliseconds in which a storage may come back: after it was lost, and after it announced its stop. */
export type RestartLimits = { lost: number; announced: number };

const usualLimits: RestartLimits = { lost: 10_000, announced: 30_000 };

/** Milliseconds between two attempts to connect while calls wait. */
const attemptPause = 100;
/** Milliseconds in which calls are refused without an attempt, after a storage was given up. */
const refusalTime = 1_000;
/** Calls that wait at once for one storage; more are refused. */
const maxWaitingCalls = 256;

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
   * @throws GitFailure `unavailable`
   */
  connect: <T>(open: () => Promise<T>, limits: CallLimits) => Promise<T>;
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

/** Waits for the attempts, at most as long as the call allows. */
const joinAttempts = async (
  { attempts, until }: Outage,
  { signal, seconds = Infinity }: CallLimits,
): Promise<void> => {
  const timer = new AbortController();
  const end = Math.min(until, performance.now() + seconds * 1_000);
  try {
    await Promise.race([attempts, rejectAt(end, signal, timer.signal)]);
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
      givenUp = failure === null ? null : { why: failure, until: performance.now() + refusalTime };
    };
    attempts.then(
      () => end(null),
      (error: unknown) => end(asFailure(error)),
    );
    return next;
  };

  /** Returns the attempts that a call waits for, and begins them if necessary. */
  const join = (): Outage => {
    const now = performance.now();
    if (outage !== null) return outage;
    if (isReached) {
      const until = Math.max(stopAnnounced + limits.announced, now + limits.lost);
      return beginOutage(until, until);
    }
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
    isReached: (): boolean => isReached,
    noteReached: (): void => {
      isReached = true;
      givenUp = null;
    },
    noteStopping: (): void => void (stopAnnounced = performance.now()),
    stop: (): void => void (isStopped = true),
  };
};

/** @param probe connects to the storage; attempts at the same time share a connection */
export const makeRestartWait = (
  probe: () => Promise<unknown>,
  limits: RestartLimits = usualLimits,
): RestartWait => {
  const outages = watchOutages(probe, limits);
  let waiting = 0;

  const untilReached = async (callLimits: CallLimits): Promise<void> => {
    callLimits.signal?.throwIfAborted();
    const joined = outages.join();
    if (waiting >= maxWaitingCalls)
      throw storageUnavailable('too many calls wait for the repository storage');
    waiting += 1;
    try {
      await joinAttempts(joined, callLimits);
    } finally {
      waiting -= 1;
    }
  };

  const { noteReached, noteStopping, stop } = outages;
  return {
    connect: async (open, callLimits) => {
      if (!mayWait()) {
        outages.requireNone();
        return await open();
      }
      if (!outages.isReached()) await untilReached(callLimits);
      try {
        return await open();
      } catch (error) {
        if (!isGitFailure(error, 'unavailable')) throw error;
      }
      await untilReached(callLimits);
      return await open();
    },
    noteReached,
    noteStopping,
    stop,
  };
};
