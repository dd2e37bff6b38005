/**
 * Caches pages and totals of a project's lists until a record of the project or a name used in filters changes.
 * Triggers raise the versions with every such change (`platform/db/migrations/revision_triggers.ts`). The versions are
 * read before the cached page, so a page is never older than its key.
 */
import type { Call } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { getTableVersion } from '../../../platform/db/compiled_query.ts';
import { everyTable } from '../../../platform/db/keep_until_change.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { collectReadTables, noteReadTables } from '../../../platform/db/read_tables.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { type LruCache, makeLruCache } from '../../../platform/lru_cache.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import type { Version as Shown } from './json_cache.ts';

type Read = { versions: Shown[]; total: number };
type Stamped<T> = { stamp: string; value: T };

const maxEntries = 1000;

/** Reads in progress are cached too: concurrent requests for the same page wait for one read. */
type PageCaches = {
  pages: LruCache<Stamped<Promise<unknown>>>;
  /** Numbers, or groups of numbers. */
  totals: LruCache<Stamped<Promise<unknown>>>;
};

type PageRequester = Pick<Call, 'platform' | 'names_version'>;

/** The type of a value follows from its key. */
const keep = async <T>(
  kept: LruCache<Stamped<Promise<unknown>>>,
  key: string,
  stamp: string | null,
  read: () => Promise<T>,
): Promise<T> => {
  if (stamp === null) return await read();
  const cached = kept.get(key);
  if (cached?.stamp === stamp) return (await cached.value) as T;
  const reading = { stamp, value: read() };
  kept.set(key, reading);
  try {
    return await reading.value;
  } catch (error) {
    if (kept.get(key) === reading) kept.delete(key);
    throw error;
  }
};

const readState = async ({ store }: Platform, db: Reader): Promise<string> =>
  (await store.dialect.state.execute(db)).rows[0]?.state ?? '';

/** Data that the lists of one kind show. */
type Version = (project: Project) => number;

/** Makes the cache of one kind of list. A key holds all inputs except the records and names. */
export const keptPages = (versionOf: Version) => {
  const getCache = memoizePerStore((_platform: Platform): PageCaches => ({
    pages: makeLruCache(maxEntries, () => 1),
    totals: makeLruCache(maxEntries, () => 1),
  }));
  /** null if the version of the names is unknown, as for anonymous visitors, so nothing is cached. */
  const makeStamp = ({ names_version }: PageRequester, project: Project): string | null =>
    Number.isNaN(names_version) ? null : `${versionOf(project)} ${names_version}`;
  return {
    page: async (
      call: PageRequester,
      project: Project,
      key: string,
      read: () => Promise<Read>,
    ): Promise<Read> => await keep(getCache(call.platform).pages, key, makeStamp(call, project), read),

    /**
     * A total over many projects, which have no version in common: kept until anything at all is committed. Only
     * that one reads again what does not change; each change costs a count.
     */
    wideTotal: async <T>(
      { platform, db }: Pick<Call, 'platform' | 'db'>,
      key: string,
      count: () => Promise<T>,
    ): Promise<T> => {
      const stamp = getTableVersion(db, everyTable) ?? (await readState(platform, db));
      const counting = async () => await collectReadTables(count);
      const { value, tables } = await keep(getCache(platform).totals, key, stamp, counting);
      noteReadTables(tables);
      return value;
    },

    /** Like `wideTotal`, for the first records of a list over many projects. */
    widePage: async (
      { platform, db }: Pick<Call, 'platform' | 'db'>,
      key: string,
      read: () => Promise<Read>,
    ): Promise<Read> => {
      const { rows } = await platform.store.dialect.state.execute(db);
      return await keep(getCache(platform).pages, key, rows[0]?.state ?? '', read);
    },

    /** Like `page`, for the total shared by all pages of a list. */
    total: async <T>(
      call: PageRequester,
      project: Project,
      key: string,
      count: () => Promise<T>,
    ): Promise<T> => await keep(getCache(call.platform).totals, key, makeStamp(call, project), count),
  };
};
