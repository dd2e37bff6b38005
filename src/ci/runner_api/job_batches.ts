/**
 * Batches calls for jobs of one pipeline into one transaction: a separate call would take the pipeline's lock and a
 * commit each time. A transaction locks one pipeline only.
 */
import type { Store, Tx } from '../../platform/db/open.ts';
import { Failure } from '../../platform/errors.ts';
import { withPipelineMutex } from '../pipelines/pipeline_mutex.ts';

/** Maximum calls in one transaction, since its callers wait for each other. */
const maxBatch = 64;

type Waiting<A, R> = { request: A; settle: (outcome: R) => void; fail: (error: unknown) => void };

export class Batches<A, R> {
  readonly #store: Store;
  readonly #work: (tx: Tx, pipeline_id: number, requests: readonly A[]) => Promise<R[]>;
  /** Waiting calls by pipeline, while a transaction of it runs. */
  readonly #queues = new Map<number, Waiting<A, R>[]>();

  /** @param work handles a batch of one pipeline; resolves to the results in order */
  constructor(store: Store, work: (tx: Tx, pipeline_id: number, requests: readonly A[]) => Promise<R[]>) {
    this.#store = store;
    this.#work = work;
  }

  async add(pipeline_id: number, request: A): Promise<R> {
    return await new Promise<R>((settle, fail) => {
      const queue = this.#queues.get(pipeline_id);
      if (queue !== undefined) {
        queue.push({ request, settle, fail });
        return;
      }
      const begun = [{ request, settle, fail }];
      this.#queues.set(pipeline_id, begun);
      // Callers whose batch was answered send their next calls at the same time.
      setImmediate(() => void this.#run(pipeline_id, begun));
    });
  }

  /** Runs one transaction after another until no call waits. */
  async #run(pipeline_id: number, queue: Waiting<A, R>[]): Promise<void> {
    while (queue.length > 0) {
      await this.#do(pipeline_id, queue.splice(0, maxBatch));
    }
    this.#queues.delete(pipeline_id);
  }

  async #do(pipeline_id: number, some: readonly Waiting<A, R>[]): Promise<void> {
    const store = this.#store;
    const requests = some.map(({ request }) => request);
    const write = async (): Promise<R[]> =>
      await store.write(async (tx) => await this.#work(tx, pipeline_id, requests));
    try {
      const outcomes = await withPipelineMutex(store, pipeline_id, write);
      for (const [at, { settle }] of some.entries()) settle(outcomes[at] as R);
    } catch (error) {
      if (some.length > 1 && !this.#isOfStore(error)) await this.#doEach(pipeline_id, some);
      else for (const { fail } of some) fail(error);
    }
  }

  /** Retries the calls one at a time, so that one that fails does not fail the others. */
  async #doEach(pipeline_id: number, some: readonly Waiting<A, R>[]): Promise<void> {
    for (const call of some) {
      await this.#do(pipeline_id, [call]);
    }
  }

  /** Returns whether the database failed, rather than one call of the batch. */
  #isOfStore(error: unknown): boolean {
    const { isConflict, isStoreFull, isUnreachable } = this.#store;
    return error instanceof Failure || isUnreachable(error) || isStoreFull(error) || isConflict(error);
  }
}
