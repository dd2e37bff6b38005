/**
 * Matches waiting runners and pending jobs in memory, so that a waiting runner costs no query. A job picked here is
 * then claimed in the database, which decides between processes.
 */
import type { Platform } from '../../../core/platform.ts';
import { queueTopic } from '../../pipelines/processing/pending_jobs.ts';
import { runnersTopic } from '../../runners/runners_topic.ts';
import type { Claimed } from './claim_jobs.ts';
import { Claims } from './claim_batches.ts';
import type { RequestingRunner } from './match_runners.ts';
import { countRunning, readPending } from './pending_job_queries.ts';
import { type Group, type WaitingJob, WaitingJobs } from './waiting_jobs.ts';

/** Milliseconds that a poll is held: less than the minute after which many proxies time out. */
const maxHold = 50_000;
/** Milliseconds by which a row may become visible after a row with a later time. */
const visibilityDelay = 10_000;
/** Milliseconds for which the counts of running jobs are cached. */
const countAge = 1_000;
const retryPause = 1_000;

type Waiter = {
  taker: RequestingRunner;
  /** A job is being claimed for this waiter. */
  isBusy: boolean;
  /** The poll has been answered or canceled. */
  isOver: boolean;
  settle: (claimed: Claimed | null) => void;
};

export type Queue = {
  /** Claims the next job for this runner; null: none. With `hold`, waits for one for a while. */
  poll: (taker: RequestingRunner, input: { hold: boolean; signal: AbortSignal }) => Promise<Claimed | null>;
  /** Reloads all pending jobs. */
  resync: () => Promise<void>;
  close: () => void;
};

/** The runner is paused, or gone. */
class RunnerUnavailable extends Error {}

export class JobQueue implements Queue {
  readonly #platform: Platform;
  readonly #waiters = new Set<Waiter>();
  readonly #waiting = new WaitingJobs((id) => this.#running.get(id) ?? 0);
  readonly #claims: Claims;
  readonly #endings: (() => void)[];
  #running = new Map<number, number>();
  #countedAt = -Infinity;
  /** When the last loaded job became pending; null: nothing was loaded yet. */
  #newest: number | null = null;
  #isStale = true;
  #isClosed = false;
  #loading: Promise<void> | null = null;
  #pausing: NodeJS.Timeout | null = null;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#claims = new Claims(platform);
    this.#endings = [
      platform.store.listen(queueTopic, () => this.#signal()),
      platform.store.listen(runnersTopic, () => this.#releaseChanged()),
    ];
  }

  async poll(
    taker: RequestingRunner,
    { hold, signal }: { hold: boolean; signal: AbortSignal },
  ): Promise<Claimed | null> {
    // A caller during the first load waits for it.
    if (this.#isStale || this.#newest === null) await this.#load();
    else if (this.#waiting.projects > 1) await this.#count();
    try {
      const claimed = await this.#tryAll(taker);
      if (claimed !== null || !hold || this.#isClosed || signal.aborted) return claimed;
    } catch (error) {
      if (error instanceof RunnerUnavailable) return null;
      throw error;
    }
    return await this.#wait(taker, signal);
  }

  async resync(): Promise<void> {
    if (this.#newest === null) return;
    const gone = new Set(this.#waiting.ids);
    await readPending(this.#platform.store.db, 0, (jobs) => {
      for (const { job_id } of jobs) gone.delete(job_id);
      this.#dispatch(this.#waiting.add(jobs));
    });
    this.#waiting.drop(gone);
  }

  close(): void {
    this.#isClosed = true;
    for (const end of this.#endings) end();
    if (this.#pausing !== null) clearTimeout(this.#pausing);
    for (const waiter of this.#waiters) this.#end(waiter);
  }

  /** Loads immediately if a request waits; otherwise the next poll loads. */
  #signal(): void {
    this.#isStale = true;
    if (this.#waiters.size > 0) this.#loadSoon(0);
  }

  #loadSoon(pause: number): void {
    if (this.#loading !== null || this.#pausing !== null || this.#isClosed) return;
    if (pause === 0) {
      this.#load().catch((error: unknown) => {
        this.#platform.log.warn({ err: error }, 'loading pending jobs failed');
        this.#loadSoon(retryPause);
      });
      return;
    }
    this.#pausing = setTimeout(() => {
      this.#pausing = null;
      this.#loadSoon(0);
    }, pause).unref();
  }

  /** Loads pending jobs, once at a time. A long queue is reloaded less often. */
  async #load(): Promise<void> {
    const start = performance.now();
    this.#loading ??= this.#read().finally(() => {
      this.#loading = null;
      const took = performance.now() - start;
      if (this.#isStale && this.#waiters.size > 0) this.#loadSoon(took > 20 ? took * 2 : 0);
    });
    await this.#loading;
  }

  async #read(): Promise<void> {
    const { store, clock } = this.#platform;
    const previous = this.#newest;
    const since = previous === null ? 0 : Math.min(previous, clock.now()) - visibilityDelay;
    this.#isStale = false;
    const grown = new Set<Group>();
    try {
      const newest = await readPending(store.db, since, (jobs) => {
        for (const group of this.#waiting.add(jobs)) grown.add(group);
      });
      this.#newest = newest ?? previous ?? 0;
      if (this.#waiting.projects > 1) await this.#count();
    } catch (error) {
      this.#isStale = true;
      throw error;
    } finally {
      this.#dispatch([...grown]);
    }
  }

  async #count(): Promise<void> {
    const now = performance.now();
    if (now - this.#countedAt < countAge) return;
    this.#countedAt = now;
    this.#running = await countRunning(this.#platform.store.db);
  }

  /** Offers jobs to the waiting runners, first come first served. */
  #dispatch(groups: readonly Group[]): void {
    if (groups.length === 0) return;
    for (const waiter of this.#waiters) {
      if (waiter.isBusy || waiter.isOver) continue;
      const job = this.#waiting.take(waiter.taker, groups);
      if (job !== null) void this.#give(waiter, job);
    }
  }

  async #give(waiter: Waiter, job: WaitingJob): Promise<void> {
    waiter.isBusy = true;
    let claimed: Claimed | null = null;
    try {
      claimed = (await this.#claim(waiter.taker, job)) ?? (await this.#tryAll(waiter.taker));
    } catch (error) {
      if (!(error instanceof RunnerUnavailable))
        this.#platform.log.warn({ err: error }, 'claiming a job failed');
      waiter.isOver = true;
    }
    waiter.isBusy = false;
    if (claimed !== null) {
      waiter.isOver = true;
      waiter.settle(claimed);
    } else if (waiter.isOver) this.#end(waiter);
  }

  async #tryAll(taker: RequestingRunner): Promise<Claimed | null> {
    for (;;) {
      const job = this.#waiting.take(taker);
      if (job === null) return null;
      const claimed = await this.#claim(taker, job);
      if (claimed !== null) return claimed;
    }
  }

  /** Returns null if another process claimed the job or the runner may not take it. */
  async #claim(taker: RequestingRunner, job: WaitingJob): Promise<Claimed | null> {
    const { id } = job.project;
    try {
      const claimed = await this.#claims.claim({ taker, job_id: job.job_id });
      this.#waiting.forget(job.job_id);
      if ('job' in claimed) {
        if (taker.runner_type === 'instance_type') this.#running.set(id, (this.#running.get(id) ?? 0) + 1);
        return claimed;
      }
      if (claimed.why === 'other') this.#putBack({ ...job, project: claimed.project });
      if (claimed.why === 'resting') throw new RunnerUnavailable();
    } catch (error) {
      this.#waiting.forget(job.job_id);
      this.#putBack(job);
      throw error;
    }
    return null;
  }

  #putBack(job: WaitingJob): void {
    this.#dispatch(this.#waiting.add([job]));
  }

  async #wait(taker: RequestingRunner, signal: AbortSignal): Promise<Claimed | null> {
    const { promise, resolve } = Promise.withResolvers<Claimed | null>();
    const waiter: Waiter = { taker, isBusy: false, isOver: false, settle: resolve };
    const end = (): void => this.#end(waiter);
    const timer = setTimeout(end, maxHold).unref();
    signal.addEventListener('abort', end);
    this.#waiters.add(waiter);
    if (this.#isStale) this.#loadSoon(0);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      this.#waiters.delete(waiter);
    }
  }

  /** Ends the wait unless a claim is in progress. */
  #end(waiter: Waiter): void {
    waiter.isOver = true;
    if (!waiter.isBusy) waiter.settle(null);
  }

  /** Ends the polls of runners whose settings changed, so that they request again. */
  #releaseChanged(): void {
    const ids = [...new Set([...this.#waiters].map(({ taker }) => taker.id))];
    if (ids.length === 0) return;
    const { store, log } = this.#platform;
    const rows = store.db
      .selectFrom('runners')
      .select(['id', 'active', 'updated_at'])
      .where(store.dialect.oneOf('id', ids))
      .execute();
    void rows
      .then((runners) => {
        const same = new Map(runners.map((row) => [row.id, row]));
        for (const waiter of this.#waiters) {
          const { id, runner_type, updated_at } = waiter.taker;
          const row = same.get(id);
          const isSame =
            row?.active === 1 && row.updated_at === updated_at && runner_type === 'instance_type';
          if (!isSame) this.#end(waiter);
        }
      })
      .catch((error: unknown) => log.warn({ err: error }, 'loading runners failed'));
  }
}

const queues = new WeakMap<object, Queue>();

/** Returns this process's queue, created at the first request. */
export const getQueue = (platform: Platform): Queue => {
  const existing = queues.get(platform.store);
  if (existing !== undefined) return existing;
  const queue = new JobQueue(platform);
  queues.set(platform.store, queue);
  return queue;
};

export const openQueue = (platform: Platform): Queue | undefined => queues.get(platform.store);
