/**
 * Claims of one moment, together: those on jobs of one pipeline are one transaction, for each would take its lock.
 * Nobody holds two pipelines' locks.
 */
import type { Platform } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import { Failure } from '../errors.ts';
import { inTurn } from '../pipelines/turns.ts';
import { type Claim, type Claimed, type Unclaimed, claimAll } from './claim.ts';

const pipelinesOf = compiled((db, { ids }: { ids: number[] }, words) =>
  db.selectFrom('jobs').select(['id', 'pipeline_id']).where(words.oneOf('id', ids)).compile(),
);

type Outcome = Claimed | Unclaimed;

type Waiting = Claim & { settle: (outcome: Outcome) => void; fail: (error: unknown) => void };

/** In one transaction: its runners wait for each other. */
const most = 64;

export class Claims {
  readonly #platform: Pick<Platform, 'store' | 'random'>;
  #gathered: Waiting[] = [];
  /** By pipeline, while a transaction of it runs. */
  readonly #queues = new Map<number, Waiting[]>();

  constructor(platform: Pick<Platform, 'store' | 'random'>) {
    this.#platform = platform;
  }

  async claim(claim: Claim): Promise<Outcome> {
    return await new Promise<Outcome>((settle, fail) => {
      this.#gathered.push({ ...claim, settle, fail });
      // Who is answered together asks together again.
      if (this.#gathered.length === 1) setImmediate(() => void this.#share());
    });
  }

  async #share(): Promise<void> {
    const all = this.#gathered;
    this.#gathered = [];
    try {
      const rows = await pipelinesOf(this.#platform.store.db, { ids: all.map(({ job_id }) => job_id) });
      const known = new Map(rows.map(({ id, pipeline_id }) => [id, pipeline_id]));
      for (const [pipeline_id, some] of Map.groupBy(all, ({ job_id }) => known.get(job_id))) {
        if (pipeline_id === undefined) some.forEach(({ settle }) => settle({ why: 'taken' }));
        else this.#queue(pipeline_id, some);
      }
    } catch (error) {
      for (const { fail } of all) fail(error);
    }
  }

  #queue(pipeline_id: number, some: Waiting[]): void {
    const queue = this.#queues.get(pipeline_id);
    if (queue !== undefined) {
      queue.push(...some);
      return;
    }
    this.#queues.set(pipeline_id, some);
    void this.#run(pipeline_id, some);
  }

  /** One transaction after another, until nobody waits. */
  async #run(pipeline_id: number, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      // oxlint-disable-next-line no-await-in-loop -- the lock is one
      await this.#give(pipeline_id, queue.splice(0, most));
    }
    this.#queues.delete(pipeline_id);
  }

  async #give(pipeline_id: number, some: readonly Waiting[]): Promise<void> {
    const { store, random } = this.#platform;
    const write = async (): Promise<Outcome[]> =>
      await store.write(async (tx) => await claimAll(tx, random, pipeline_id, some));
    try {
      const outcomes = await inTurn(store, pipeline_id, write);
      for (const [at, { settle }] of some.entries()) settle(outcomes[at] ?? { why: 'taken' });
    } catch (error) {
      if (some.length > 1 && !this.#isOfStore(error)) await this.#giveEach(pipeline_id, some);
      else for (const { fail } of some) fail(error);
    }
  }

  /** One that cannot be given holds up no other. */
  async #giveEach(pipeline_id: number, some: readonly Waiting[]): Promise<void> {
    for (const one of some) {
      // oxlint-disable-next-line no-await-in-loop -- the lock is one
      await this.#give(pipeline_id, [one]);
    }
  }

  /** It is not for what was asked that it failed. */
  #isOfStore(error: unknown): boolean {
    const { store } = this.#platform;
    return error instanceof Failure || store.isUnreachable(error) || store.isStoreFull(error);
  }
}
