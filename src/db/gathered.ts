/** What many ask one by one in the same turn of the event loop, asked in one statement. */
import { storeOf } from './compiled.ts';
import type { Reader } from './open.ts';

type Asked<R> = PromiseWithResolvers<R | undefined>;

/**
 * The row of a key; undefined: there is none. Rows are shared by those who ask for the same key: nobody changes one.
 * A transaction asks by itself: others' questions are no part of it.
 * @param ask all rows of some keys, each of which has one at most
 */
export const gathered = <K extends string | number, R>(
  ask: (db: Reader, keys: K[]) => Promise<R[]>,
  keyOf: (row: R) => K,
): ((db: Reader, key: K) => Promise<R | undefined>) => {
  const stores = new WeakMap<object, Map<K, Asked<R>>>();

  const askAll = async (db: Reader, all: ReadonlyMap<K, Asked<R>>): Promise<void> => {
    try {
      const rows = new Map((await ask(db, [...all.keys()])).map((row) => [keyOf(row), row]));
      for (const [key, { resolve }] of all) resolve(rows.get(key));
    } catch (error) {
      for (const { reject } of all.values()) reject(error);
    }
  };

  return async (db, key) => {
    if (db.isTransaction) return (await ask(db, [key]))[0];
    const store = storeOf(db);
    const waiting = stores.get(store) ?? new Map<K, Asked<R>>();
    const asked = waiting.get(key) ?? Promise.withResolvers<R | undefined>();
    if (waiting.size === 0) {
      stores.set(store, waiting);
      setImmediate(() => {
        stores.delete(store);
        void askAll(db, waiting);
      });
    }
    waiting.set(key, asked);
    return await asked.promise;
  };
};
