/**
 * The long texts of versions, kept between requests: they never change, and only those who may read their request ask
 * for them. The oldest are dropped first.
 */
import type { Platform } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import { JsonText } from '../http/endpoint.ts';
import { oncePer } from '../once_per.ts';

const mostBytes = 8 * 1024 * 1024;
/** What a text costs beside its bytes. */
const overhead = 200;

type Kept = { texts: JsonText[]; size: number };

class Texts {
  readonly #kept = new Map<string, Kept>();
  #size = 0;

  get(key: string): JsonText[] | undefined {
    return this.#kept.get(key)?.texts;
  }

  set(key: string, texts: JsonText[]): void {
    const size = texts.reduce((sum, { bytes }) => sum + bytes.length + overhead, overhead);
    if (size > mostBytes / 2 || this.#kept.has(key)) return;
    this.#kept.set(key, { texts, size });
    this.#size += size;
    for (const [oldest, kept] of this.#kept) {
      if (this.#size <= mostBytes) return;
      this.#kept.delete(oldest);
      this.#size -= kept.size;
    }
  }
}

const textsOf = oncePer((_platform: Platform) => new Texts());

const diffsOf = compiled((db, { id }: { id: number }) =>
  db.selectFrom('merge_request_diff_texts').select('diffs as text').where('diff_id', '=', id).compile(),
);
const commitsOf = compiled((db, { id }: { id: number }) =>
  db.selectFrom('merge_request_diff_texts').select('commits as text').where('diff_id', '=', id).compile(),
);

type Asking = { platform: Platform; db: Reader };

const remember = async (
  { platform }: Asking,
  key: string,
  make: () => Promise<JsonText[]>,
): Promise<JsonText[]> => {
  const texts = textsOf(platform);
  const known = texts.get(key);
  if (known !== undefined) return known;
  const made = (await make()).map((text) => text.alone);
  texts.set(key, made);
  return made;
};

const wholeOf = (rows: { text: string }[]): JsonText[] => [new JsonText(rows[0]?.text ?? '[]')];

const itemsOf = (rows: { text: string }[]): JsonText[] =>
  (JSON.parse(rows[0]?.text ?? '[]') as object[]).map((item) => new JsonText(JSON.stringify(item)));

const firstOf = ([text]: JsonText[]): JsonText => text ?? new JsonText('[]');

/** The stored changes of a version, as one JSON array. */
export const storedDiffs = async (asking: Asking, id: number): Promise<JsonText> =>
  firstOf(await remember(asking, `diffs ${id}`, async () => wholeOf(await diffsOf(asking.db, { id }))));

/** The same, one by one. */
export const storedDiffItems = async (asking: Asking, id: number): Promise<JsonText[]> =>
  await remember(asking, `files ${id}`, async () => itemsOf(await diffsOf(asking.db, { id })));

/** The stored commits of a version, as one JSON array. */
export const storedCommits = async (asking: Asking, id: number): Promise<JsonText> =>
  firstOf(await remember(asking, `all ${id}`, async () => wholeOf(await commitsOf(asking.db, { id }))));

/** The same, one by one, newest first. */
export const storedCommitItems = async (asking: Asking, id: number): Promise<JsonText[]> =>
  await remember(asking, `commits ${id}`, async () => itemsOf(await commitsOf(asking.db, { id })));
