/**
 * Caches the long texts of versions between requests. They never change; callers authorize access before reading.
 */
import type { Platform } from '../../../core/platform.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { JsonText } from '../../../platform/http/endpoint.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';

const maxBytes = 8 * 1024 * 1024;
/** Estimated memory overhead of an entry, in bytes. */
const overhead = 200;

const weigh = (texts: JsonText[]): number =>
  texts.reduce((sum, { bytes }) => sum + bytes.length + overhead, overhead);

const getTextCache = memoizePerStore((_platform: Platform) => makeLruCache<JsonText[]>(maxBytes, weigh));

const selectDiffs = compiled((db, { id }: { id: number }) =>
  db.selectFrom('merge_request_diff_texts').select('diffs as text').where('diff_id', '=', id).compile(),
);
const selectCommits = compiled((db, { id }: { id: number }) =>
  db.selectFrom('merge_request_diff_texts').select('commits as text').where('diff_id', '=', id).compile(),
);

type CacheAccess = { platform: Platform; db: Reader };

const getOrLoad = async (
  { platform }: CacheAccess,
  key: string,
  make: () => Promise<JsonText[]>,
): Promise<JsonText[]> => {
  const texts = getTextCache(platform);
  const cached = texts.get(key);
  if (cached !== undefined) return cached;
  const loadedTexts = (await make()).map((text) => text.detached);
  texts.set(key, loadedTexts);
  return loadedTexts;
};

const toArrayText = (rows: { text: string }[]): JsonText[] => [new JsonText(rows[0]?.text ?? '[]')];

const toItemTexts = (rows: { text: string }[]): JsonText[] =>
  (JSON.parse(rows[0]?.text ?? '[]') as object[]).map((item) => new JsonText(JSON.stringify(item)));

const getFirst = ([text]: JsonText[]): JsonText => text ?? new JsonText('[]');

/** Returns the stored changes of a version as one JSON array. */
export const storedDiffs = async (asking: CacheAccess, id: number): Promise<JsonText> =>
  getFirst(
    await getOrLoad(asking, `diffs ${id}`, async () => toArrayText(await selectDiffs(asking.db, { id }))),
  );

/** Returns the stored changes of a version as one text per file. */
export const storedDiffItems = async (asking: CacheAccess, id: number): Promise<JsonText[]> =>
  await getOrLoad(asking, `files ${id}`, async () => toItemTexts(await selectDiffs(asking.db, { id })));

/** Returns the stored commits of a version as one JSON array. */
export const storedCommits = async (asking: CacheAccess, id: number): Promise<JsonText> =>
  getFirst(
    await getOrLoad(asking, `all ${id}`, async () => toArrayText(await selectCommits(asking.db, { id }))),
  );

/** Returns the stored commits of a version as one text per commit, newest first. */
export const storedCommitItems = async (asking: CacheAccess, id: number): Promise<JsonText[]> =>
  await getOrLoad(asking, `commits ${id}`, async () => toItemTexts(await selectCommits(asking.db, { id })));
