/**
 * Caches the JSON of issues and merge requests in lists. The key of a text is the record's `revision`, the version of
 * the embedded names, the base URL and whether avatars are shown. Triggers raise the versions with every change
 * (`platform/db/migrations/revision_triggers.ts`). A query reads them before the text is built or used, so a text is never older
 * than its key. No text depends on the viewer.
 */
import { hash } from 'node:crypto';
import { totalmem } from 'node:os';
import type { TObject } from 'typebox';
import type { Call } from '../../../core/access/call.ts';
import type { DatedSite } from '../../../core/access/site.ts';
import type { Platform } from '../../../core/platform.ts';
import { today } from '../../../core/access/viewer.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { JsonText } from '../../../platform/http/endpoint.ts';
import { lazySerializer } from '../../../platform/http/serializer.ts';
import { type LruCache, makeLruCache } from '../../../platform/lru_cache.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';

/** The current version of a record. */
export type Version = {
  id: number;
  revision: number;
  /** Number of merge requests that close the issue and that the caller sees. */
  merge_requests_count?: number;
};

/** The parts of the key that do not come from the record. */
type Look = {
  names_version: number;
  baseUrl: string;
  avatars: boolean;
  /** Date, because a milestone expires at the end of its day. */
  today: string;
};

type CachedJson = Look & Omit<Version, 'id'> & { text: JsonText };

/** A part of the machine's memory, in bytes. */
const maxBytes = Math.min(64 * 2 ** 20, Math.max(16 * 2 ** 20, totalmem() / 32));
/** Memory of a cached text in addition to its characters, in bytes. */
const overhead = 300;

const getSize = ({ text }: CachedJson): number => text.bytes.length + overhead;

const isCurrent = (kept: CachedJson, version: Version, context: Look): boolean =>
  kept.revision === version.revision &&
  kept.merge_requests_count === version.merge_requests_count &&
  kept.today === context.today &&
  kept.names_version === context.names_version &&
  kept.baseUrl === context.baseUrl &&
  kept.avatars === context.avatars;

const findText = (texts: LruCache<CachedJson>, version: Version, context: Look): JsonText | undefined => {
  const kept = texts.get(String(version.id));
  return kept !== undefined && isCurrent(kept, version, context) ? kept.text : undefined;
};

type JsonRequest = Pick<Call, 'platform' | 'db' | 'baseUrl' | 'settings' | 'names_version' | 'now'>;

type Kind<R> = {
  shape: TObject;
  /** Loads the records of these ids, in no order. */
  read: (db: Reader, ids: readonly number[]) => Promise<R[]>;
  json: (record: R, site: DatedSite) => object;
  /** Called with the records whose texts were built. */
  onBuilt?: (platform: Platform, records: R[]) => void;
};

/** Returns the JSON of records in order, without records that were just deleted. */
export type TextLoader = (call: JsonRequest, versions: readonly Version[]) => Promise<JsonText[]>;

/** Makes the text loader of one kind of record. */
export const cachedTexts = <R extends Version>({ shape, read, json, onBuilt }: Kind<R>): TextLoader => {
  const serialize = lazySerializer(shape);
  const getTexts = memoizePerStore((_platform: Platform) => makeLruCache(maxBytes, getSize));
  return async ({ platform, db, baseUrl, settings, names_version, now }, versions) => {
    const texts = getTexts(platform);
    const context = { names_version, baseUrl, avatars: settings.avatar_service_enabled, today: today(now) };
    const cached = versions.map((version) => findText(texts, version, context));
    const missing = versions.filter((_version, index) => cached[index] === undefined);
    if (missing.length === 0) return cached as JsonText[];
    const built = new Map<number, JsonText>();
    const counts = new Map(missing.map(({ id, merge_requests_count }) => [id, merge_requests_count]));
    const records = await read(db, [...counts.keys()]);
    onBuilt?.(platform, records);
    for (const record of records) {
      const count = counts.get(record.id);
      const counted = count === undefined ? {} : { merge_requests_count: count };
      const text = serialize(json({ ...record, ...counted }, { baseUrl, settings, now })).detached;
      texts.set(String(record.id), { ...context, ...counted, revision: record.revision, text });
      built.set(record.id, text);
    }
    return versions.flatMap(({ id }, index) => cached[index] ?? built.get(id) ?? []);
  };
};

/** Records of recent pages. Each holds its text, too. */
const maxParsed = 500;
const parsedTexts = makeLruCache<unknown, JsonText>(maxParsed, () => 1);

/** Parses a cached text, once while pages show it again and again. Callers share the result and must not modify it. */
export const parseText = <T extends object>(text: JsonText): Readonly<T> => {
  const cached = parsedTexts.get(text);
  if (cached !== undefined) return cached as T;
  const parsed = JSON.parse(text.bytes.toString('utf8')) as T;
  parsedTexts.set(text, parsed);
  return parsed;
};

const openBrace = '{'.length;
const comma = Buffer.from(',');

/** Merges two JSON objects as texts. Both must have members. The digest is made of that of `text`, which is kept. */
export const withMembers = (text: JsonText, more: object): JsonText => {
  const members = JSON.stringify(more);
  const extras = Buffer.from(members).subarray(openBrace);
  const digest = hash('sha1', `${text.digest} ${members}`, 'base64url');
  return new JsonText(Buffer.concat([text.bytes.subarray(0, -1), comma, extras]), digest);
};
