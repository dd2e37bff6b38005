/**
 * Wakes the workers for new work: usually that of this process, and those of all processes where it has no room. A
 * notification of PostgreSQL makes other commits wait, so that most work is not worth one.
 */
import { getStoreKey } from '../db/compiled_query.ts';
import type { Reader, Tx } from '../db/open.ts';

/** Topic that a transaction announces when it enqueues work that is due. */
export const workTopic = 'work';

/** Returns whether a worker can start a piece of a kind now. */
type HasRoom = (name: string) => boolean;

/** Milliseconds in which a process notifies the others at most once. */
const usualQuietTime = 50;

const workers = new WeakMap<object, { hasRoom: HasRoom; quietTime: number; quietUntil: number }>();

/** Names the worker of this process for a store. Returns a function that ends this. */
export const registerWorker = (db: Reader, hasRoom: HasRoom, quietTime = usualQuietTime): (() => void) => {
  const key = getStoreKey(db);
  const worker = { hasRoom, quietTime, quietUntil: 0 };
  workers.set(key, worker);
  return () => void (workers.get(key) === worker && workers.delete(key));
};

/** Announces work of a kind that is due. What no notification reaches is found by the polls of the workers. */
export const announceWork = (tx: Tx, name: string): void => {
  const worker = workers.get(getStoreKey(tx.db));
  if (worker === undefined) {
    tx.broadcast(workTopic);
    return;
  }
  const now = performance.now();
  if (worker.hasRoom(name) || now < worker.quietUntil) {
    tx.announce(workTopic);
    return;
  }
  worker.quietUntil = now + worker.quietTime;
  tx.broadcast(workTopic);
};
