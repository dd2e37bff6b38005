/**
 * Keeps what was read until a table that it was read from changes. Only on SQLite: there the one writer counts its
 * commits, while PostgreSQL would have to be asked, which costs as much as the read.
 */
import { type LruCache, makeLruCache } from '../lru_cache.ts';
import { getStoreKey, getTableVersion } from './compiled_query.ts';
import type { Reader } from './open.ts';
import { collectReadTables, noteReadTables } from './read_tables.ts';

type Kept<V> = { version: string; value: V };

/**
 * Creates a read that keeps its values. Callers share them and must not modify them. A transaction uses them as long
 * as nothing has written what it reads since the last commit.
 * @param tables that the values are read from
 * @param max values of one store; the least recently used are evicted
 */
export const keepUntilChange = <V>(tables: readonly string[], max: number) => {
  const stores = new WeakMap<object, LruCache<Kept<V>>>();
  const getCache = (db: Reader): LruCache<Kept<V>> => {
    const key = getStoreKey(db);
    const cache = stores.get(key) ?? makeLruCache<Kept<V>>(max, () => 1);
    stores.set(key, cache);
    return cache;
  };
  return async (db: Reader, key: string, load: () => Promise<V>): Promise<V> => {
    // Read before the value, which is therefore never older than its version.
    const version = getTableVersion(db, tables);
    if (version === null) return await load();
    const cache = getCache(db);
    const kept = cache.get(key);
    if (kept?.version === version) {
      noteReadTables(tables);
      return kept.value;
    }
    const value = await load();
    // A transaction may have written meanwhile, and be undone.
    const isUnchanged = !db.isTransaction || getTableVersion(db, tables) === version;
    if (value !== undefined && isUnchanged) cache.set(key, { version, value });
    return value;
  };
};

type KeptRead<V> = Kept<V> & { tables: readonly string[]; until: number };

/** Represents all tables: each commit counts (`sqlite/table_versions.ts`). */
export const everyTable = ['*'];

/** A change of a branch or tag begins and ends with a row of the first, or changes a project. */
export const refTables = ['git_operations', 'projects'];

/** Milliseconds after which what was read from refs is read again: repositories may be changed by hand. */
export const handMadeChangeAge = 10_000;

const getEnd = (tables: readonly string[]): number =>
  tables.includes('git_operations') ? performance.now() + handMadeChangeAge : Infinity;

/**
 * Creates a read that keeps its values until a table that its statements read changes. The key holds everything else
 * that a value depends on. Callers share values and must not modify them. Reads in a transaction are not kept.
 * @param maxWeight of the values and keys of one store, in bytes; the least recently used are evicted
 */
export const keepReads = <V>(maxWeight: number, weigh: (value: V) => number) => {
  const stores = new WeakMap<object, LruCache<KeptRead<V>>>();
  const getCache = (db: Reader): LruCache<KeptRead<V>> => {
    const key = getStoreKey(db);
    const cache =
      stores.get(key) ??
      makeLruCache<KeptRead<V>>(maxWeight, ({ value }, name) => weigh(value) + name.length);
    stores.set(key, cache);
    return cache;
  };
  return async (db: Reader, key: string, load: () => Promise<V>): Promise<V> => {
    if (db.isTransaction) return await load();
    const cache = getCache(db);
    const kept = cache.get(key);
    const isValid = kept !== undefined && getTableVersion(db, kept.tables) === kept.version;
    if (isValid && (kept.until === Infinity || performance.now() < kept.until)) {
      noteReadTables(kept.tables);
      return kept.value;
    }
    const before = getTableVersion(db, everyTable);
    if (before === null) return await load();
    const { value, tables } = await collectReadTables(load);
    // If a commit happened in between, the value may be older than the versions.
    if (tables === null || getTableVersion(db, everyTable) !== before) return value;
    const version = getTableVersion(db, tables);
    if (version !== null) cache.set(key, { version, value, tables, until: getEnd(tables) });
    return value;
  };
};
