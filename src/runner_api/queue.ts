/**
 * Who waits for jobs, and what waits for runners: in memory, so that a runner that waits costs no query. The database
 * is the truth: what is picked here is claimed there, by one of all processes.
 */
import type { Platform } from '../access/call.ts';
import { queueTopic } from '../pipelines/queue.ts';
import { runnersTopic } from '../runners/topic.ts';
import type { Claimed } from './claim.ts';
import { Claims } from './claims.ts';
import type { Taker } from './matching.ts';
import { countRunning, readPending } from './pending.ts';
import { type Group, Waiting, type WaitingJob } from './waiting.ts';

/** Milliseconds that a poll is held: below the minute after which many a proxy gives up. */
const longestHold = 50_000;
/** Milliseconds: a row may be seen later than what began to wait after it. */
const late = 10_000;
/** Milliseconds for which it is good enough to know how many jobs ran. */
const countAge = 1_000;
const retryPause = 1_000;

type Waiter = {
  taker: Taker;
  /** A job is being claimed for it. */
  isBusy: boolean;
  /** It waits no longer. */
  isOver: boolean;
  settle: (claimed: Claimed | null) => void;
};

export type Queue = {
  /** The next job of this runner, in its name; null: there was none. With `hold`, one that comes soon will do. */
  poll: (taker: Taker, given: { hold: boolean; signal: AbortSignal }) => Promise<Claimed | null>;
  /** Reads all that waits anew. */
  resync: () => Promise<void>;
  close: () => void;
};

/** The runner is paused, or gone. */
class Resting extends Error {}

export class JobQueue implements Queue {
  readonly #platform: Platform;
  readonly #waiters = new Set<Waiter>();
  readonly #waiting = new Waiting((id) => this.#running.get(id) ?? 0);
  readonly #claims: Claims;
  readonly #endings: (() => void)[];
  #running = new Map<number, number>();
  #countedAt = -Infinity;
  /** When the last of those that are known began to wait; null: nothing was read yet. */
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
    taker: Taker,
    { hold, signal }: { hold: boolean; signal: AbortSignal },
  ): Promise<Claimed | null> {
    // Whoever comes while all is read for the first time would find nothing.
    if (this.#isStale || this.#newest === null) await this.#load();
    else if (this.#waiting.projects > 1) await this.#count();
    try {
      const claimed = await this.#tryAll(taker);
      if (claimed !== null || !hold || this.#isClosed || signal.aborted) return claimed;
    } catch (error) {
      if (error instanceof Resting) return null;
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

  /** Where nobody waits, it is enough to look when somebody comes. */
  #signal(): void {
    this.#isStale = true;
    if (this.#waiters.size > 0) this.#loadSoon(0);
  }

  #loadSoon(pause: number): void {
    if (this.#loading !== null || this.#pausing !== null || this.#isClosed) return;
    if (pause === 0) {
      this.#load().catch((error: unknown) => {
        this.#platform.log.warn({ err: error }, 'the queue of jobs was not read');
        this.#loadSoon(retryPause);
      });
      return;
    }
    this.#pausing = setTimeout(() => {
      this.#pausing = null;
      this.#loadSoon(0);
    }, pause).unref();
  }

  /** One at a time. A long queue is read less often. */
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
    const known = this.#newest;
    const since = known === null ? 0 : Math.min(known, clock.now()) - late;
    this.#isStale = false;
    const grown = new Set<Group>();
    try {
      const newest = await readPending(store.db, since, (jobs) => {
        for (const group of this.#waiting.add(jobs)) grown.add(group);
      });
      this.#newest = newest ?? known ?? 0;
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

  /** Gives to those who wait, the first of them first. */
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
      if (!(error instanceof Resting)) this.#platform.log.warn({ err: error }, 'a job was not claimed');
      waiter.isOver = true;
    }
    waiter.isBusy = false;
    if (claimed !== null) {
      waiter.isOver = true;
      waiter.settle(claimed);
    } else if (waiter.isOver) this.#end(waiter);
  }

  async #tryAll(taker: Taker): Promise<Claimed | null> {
    for (;;) {
      const job = this.#waiting.take(taker);
      if (job === null) return null;
      // oxlint-disable-next-line no-await-in-loop -- the next only where this one is lost
      const claimed = await this.#claim(taker, job);
      if (claimed !== null) return claimed;
    }
  }

  /** null: it is another's, or for others. */
  async #claim(taker: Taker, job: WaitingJob): Promise<Claimed | null> {
    const { id } = job.project;
    try {
      const claimed = await this.#claims.claim({ taker, job_id: job.job_id });
      this.#waiting.forget(job.job_id);
      if ('job' in claimed) {
        if (taker.runner_type === 'instance_type') this.#running.set(id, (this.#running.get(id) ?? 0) + 1);
        return claimed;
      }
      if (claimed.why === 'other') this.#putBack({ ...job, project: claimed.project });
      if (claimed.why === 'resting') throw new Resting();
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

  async #wait(taker: Taker, signal: AbortSignal): Promise<Claimed | null> {
    const { promise, resolve } = Promise.withResolvers<Claimed | null>();
    const waiter: Waiter = { taker, isBusy: false, isOver: false, settle: resolve };
    const end = (): void => this.#end(waiter);
    const timer = setTimeout(end, longestHold).unref();
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

  /** Unless it is about to be given a job. */
  #end(waiter: Waiter): void {
    waiter.isOver = true;
    if (!waiter.isBusy) waiter.settle(null);
  }

  /** Of runners that may take other jobs than before: they ask again. */
  #releaseChanged(): void {
    const ids = [...new Set([...this.#waiters].map(({ taker }) => taker.id))];
    if (ids.length === 0) return;
    const { store, log } = this.#platform;
    const rows = store.db
      .selectFrom('runners')
      .select(['id', 'active', 'updated_at'])
      .where(store.words.oneOf('id', ids))
      .execute();
    void rows
      .then((found) => {
        const same = new Map(found.map((row) => [row.id, row]));
        for (const waiter of this.#waiters) {
          const { id, runner_type, updated_at } = waiter.taker;
          const row = same.get(id);
          const isSame =
            row?.active === 1 && row.updated_at === updated_at && runner_type === 'instance_type';
          if (!isSame) this.#end(waiter);
        }
      })
      .catch((error: unknown) => log.warn({ err: error }, 'runners were not read'));
  }
}

const queues = new WeakMap<object, Queue>();

/** Of this process: made when the first runner asks. */
export const queueOf = (platform: Platform): Queue => {
  const found = queues.get(platform.store);
  if (found !== undefined) return found;
  const made = new JobQueue(platform);
  queues.set(platform.store, made);
  return made;
};

export const openQueue = (platform: Platform): Queue | undefined => queues.get(platform.store);
