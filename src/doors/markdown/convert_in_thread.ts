/**
 * Converts texts in a worker thread, with limits of time and memory. Each user has a separate turn; anonymous visitors
 * share a turn, so that crawlers cannot slow members down. Waiting is limited: a text that is not converted in time is
 * shown as plain text.
 */
import { callClient } from '../../code/repository/refs/transfer_access.ts';
import type { Call } from '../../core/access/call.ts';
import { Failure } from '../../platform/errors.ts';
import { type LruCache, makeLruCache } from '../../platform/lru_cache.ts';
import { programPath } from '../../platform/package_files.ts';
import { waitAtMost } from '../../platform/wait_at_most.ts';
import type { Program } from '../../platform/workers/program_path.ts';
import { WorkerLimitError, runInWorker } from '../../platform/workers/run_in_worker.ts';
import type { ConversionTask } from './convert_worker.ts';

const program: Program = {
  path: programPath('src/doors/markdown/convert_worker.ts', 'convert_worker'),
  maxMilliseconds: 2_000,
  memory: 256,
};

/** Maximum waiting conversions of one anonymous address. All of them together may have as many as one user. */
const maxConversionsOfAddress = 4;
/** Milliseconds that a request waits; the conversion continues, and the next request finds its result. */
const maxWaitMilliseconds = 5_000;
/** Milliseconds until a text that exceeded the limits is tried again: the machine may have been busy. */
const retryMilliseconds = 10 * 60_000;

/** `too_expensive`: past the limits of the worker thread. `busy`: too many conversions wait. */
export type Outcome<T> = { kind: 'done'; result: T } | { kind: 'too_expensive' } | { kind: 'busy' };

const busy = { kind: 'busy' } as const;

/** Running conversions of anonymous visitors, by address. */
const anonymous = new Map<string, number>();

const runTask = async (owner: string, task: ConversionTask): Promise<Outcome<unknown>> => {
  try {
    return { kind: 'done', result: await runInWorker(program, { owner, task }) };
  } catch (error) {
    if (error instanceof WorkerLimitError) return { kind: 'too_expensive' };
    if (error instanceof Failure) return busy;
    throw error;
  }
};

const runAnonymous = async (address: string, task: ConversionTask): Promise<Outcome<unknown>> => {
  const count = anonymous.get(address) ?? 0;
  if (count >= maxConversionsOfAddress) return busy;
  anonymous.set(address, count + 1);
  try {
    return await runTask('anonymous', task);
  } finally {
    const left = (anonymous.get(address) ?? 1) - 1;
    if (left > 0) anonymous.set(address, left);
    else anonymous.delete(address);
  }
};

export type ConversionCache<T> = {
  /** Converted texts; `until`: time after which a text that was too expensive is tried again. */
  results: LruCache<{ outcome: Outcome<T>; until: number }>;
  running: Map<string, Promise<Outcome<T>>>;
};

/** Creates a cache of converted texts. @param weigh returns bytes */
export const makeConversionCache = <T>(
  maxBytes: number,
  weigh: (result: T) => number,
): ConversionCache<T> => ({
  results: makeLruCache(
    maxBytes,
    ({ outcome }, key) => 170 + 2 * key.length + (outcome.kind === 'done' ? weigh(outcome.result) : 0),
  ),
  running: new Map(),
});

/** Returns a cached result. */
export const getCached = <T>(
  { results }: ConversionCache<T>,
  key: string,
  now: number,
): Outcome<T> | undefined => {
  const cached = results.get(key);
  return cached !== undefined && now < cached.until ? cached.outcome : undefined;
};

/** Adds a result to the cache. */
export const addToCache = <T>(cache: ConversionCache<T>, key: string, result: T): void =>
  cache.results.set(key, { outcome: { kind: 'done', result }, until: Infinity });

/**
 * Converts a text, or returns the cached result. Requests for the same key share one conversion.
 * @param key depends on everything that the result depends on
 */
export const convertInThread = async <T>(
  call: Call,
  cache: ConversionCache<T>,
  key: string,
  task: ConversionTask,
): Promise<Outcome<T>> => {
  const cached = getCached(cache, key, call.now);
  if (cached !== undefined) return cached;
  const convert = async (): Promise<Outcome<T>> => {
    const { name } = callClient(call);
    const outcome = await (call.actor === null ? runAnonymous(name, task) : runTask(name, task));
    if (outcome.kind !== 'busy') {
      const until = outcome.kind === 'done' ? Infinity : call.now + retryMilliseconds;
      cache.results.set(key, { outcome: outcome as Outcome<T>, until });
    }
    return outcome as Outcome<T>;
  };
  const running = cache.running.get(key) ?? convert().finally(() => cache.running.delete(key));
  cache.running.set(key, running);
  return await waitAtMost(running, maxWaitMilliseconds, busy);
};
