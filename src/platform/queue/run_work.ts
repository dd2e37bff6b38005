/** Runs one piece of leased work: handler, lease, and what follows a failure. */
import type { Logger } from 'pino';
import type { Store, Tx } from '../db/open.ts';
import type { Clock } from '../time.ts';
import type { Payload, WorkHandler } from './enqueue.ts';
import type { Lane } from './lanes.ts';
import {
  type LeasedWork,
  countAttempts,
  finish,
  finishIn,
  giveUp,
  lease,
  maxAttempts,
  postpone,
  renew,
} from './leases.ts';

export type WorkerParts = {
  store: Store;
  clock: Clock;
  log: Logger;
  handlers: { [name: string]: WorkHandler };
  /** Returns whether a failure is an outage, after which work is never given up. Default: none is. */
  isOutage?: (error: unknown) => boolean;
  /** Default: one piece at a time. */
  lanes?: readonly Lane[];
  /**
   * Kinds whose due time is the end of a pause, and that check whether it has passed: they are due when the clock was
   * set back since they were enqueued. Default: none.
   */
  pausing?: readonly string[];
  /** Milliseconds; default: one second. */
  idlePause?: number;
  /** Milliseconds in which it notifies other processes at most once; default: 50. */
  quietTime?: number;
};

export type RunnerParts = WorkerParts & { stopping: AbortSignal };

/** Runs the handler. Returns whether it completed the work in its own transaction. */
const handle = async ({ handlers, stopping }: RunnerParts, taken: LeasedWork): Promise<boolean> => {
  const { name, payload, trace: traceparent } = taken;
  const handler = handlers[name];
  if (handler === undefined) throw new Error(`no handler for work "${name}"`);
  let isFinished = false;
  // A retried transaction may not commit.
  const noteFinished = (): void => void (isFinished = true);
  const finishNow = async (tx: Tx): Promise<void> => {
    await finishIn(tx, taken);
    tx.afterCommit(noteFinished);
  };
  const piece = { id: taken.id, attempts: taken.attempts, noteFinished };
  await handler(JSON.parse(payload) as Payload, { traceparent, stopping, finishIn: finishNow, piece });
  return isFinished;
};

/** Renews the lease while the work runs, so that no other process takes it over. */
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

/** Postpones the work, or marks it as failed after too many attempts. */
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

/** Runs leased work, and records its end. */
export const runWork = async (parts: RunnerParts, taken: LeasedWork): Promise<void> => {
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
