/** What takes the lock of one pipeline, one after another in this process. */
import type { Store } from '../db/open.ts';

const turns = new WeakMap<object, Map<number, Promise<unknown>>>();

/**
 * Runs what begins by taking the pipeline's lock once those before it are done: in PostgreSQL, a connection would wait
 * with each, and those who only read would find none. SQLite's one writer has its own order.
 */
export const inTurn = async <T>(store: Store, pipeline_id: number, work: () => Promise<T>): Promise<T> => {
  if (store.words.engine === 'sqlite') return await work();
  const known = turns.get(store) ?? new Map<number, Promise<unknown>>();
  turns.set(store, known);
  const mine = (known.get(pipeline_id) ?? Promise.resolve()).then(work);
  const done = mine.catch(() => undefined);
  known.set(pipeline_id, done);
  try {
    return await mine;
  } finally {
    if (known.get(pipeline_id) === done) known.delete(pipeline_id);
  }
};
