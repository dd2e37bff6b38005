/**
 * What is asked at one moment of jobs of one pipeline, in one transaction: each alone would take the pipeline's lock, and
 * a commit. Nobody holds two pipelines' locks.
 */
import type { Store, Tx } from '../db/open.ts';
import { Failure } from '../errors.ts';
import { inTurn } from '../pipelines/turns.ts';

/** In one transaction: those who ask wait for each other. */
const most = 64;

type Waiting<A, R> = { asked: A; settle: (outcome: R) => void; fail: (error: unknown) => void };

export class Batches<A, R> {
  readonly #store: Store;
  readonly #work: (tx: Tx, pipeline_id: number, all: readonly A[]) => Promise<R[]>;
  /** By pipeline, while a transaction of it runs. */
  readonly #queues = new Map<number, Waiting<A, R>[]>();

  /** @param work what is done with some that were asked of one pipeline; answers in their order */
  constructor(store: Store, work: (tx: Tx, pipeline_id: number, all: readonly A[]) => Promise<R[]>) {
    this.#store = store;
    this.#work = work;
  }

  async add(pipeline_id: number, asked: A): Promise<R> {
    return await new Promise<R>((settle, fail) => {
      const queue = this.#queues.get(pipeline_id);
      if (queue !== undefined) {
        queue.push({ asked, settle, fail });
        return;
      }
      const begun = [{ asked, settle, fail }];
      this.#queues.set(pipeline_id, begun);
      // Who is answered together asks together again.
      setImmediate(() => void this.#run(pipeline_id, begun));
    });
  }

  /** One transaction after another, until nobody waits. */
  async #run(pipeline_id: number, queue: Waiting<A, R>[]): Promise<void> {
    while (queue.length > 0) {
      // oxlint-disable-next-line no-await-in-loop -- the lock is one
      await this.#do(pipeline_id, queue.splice(0, most));
    }
    this.#queues.delete(pipeline_id);
  }

  async #do(pipeline_id: number, some: readonly Waiting<A, R>[]): Promise<void> {
    const store = this.#store;
    const all = some.map(({ asked }) => asked);
    const write = async (): Promise<R[]> =>
      await store.write(async (tx) => await this.#work(tx, pipeline_id, all));
    try {
      const outcomes = await inTurn(store, pipeline_id, write);
      for (const [at, { settle }] of some.entries()) settle(outcomes[at] as R);
    } catch (error) {
      if (some.length > 1 && !this.#isOfStore(error)) await this.#doEach(pipeline_id, some);
      else for (const { fail } of some) fail(error);
    }
  }

  /** One that cannot be done holds up no other. */
  async #doEach(pipeline_id: number, some: readonly Waiting<A, R>[]): Promise<void> {
    for (const one of some) {
      // oxlint-disable-next-line no-await-in-loop -- the lock is one
      await this.#do(pipeline_id, [one]);
    }
  }

  /** It is not for what was asked that it failed. */
  #isOfStore(error: unknown): boolean {
    const { isConflict, isStoreFull, isUnreachable } = this.#store;
    return error instanceof Failure || isUnreachable(error) || isStoreFull(error) || isConflict(error);
  }
}
