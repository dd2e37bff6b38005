/**
 * The JSON of issues and merge requests as lists show them, kept between requests. A text is of one record at one
 * `revision`, under one version of the names that it shows, one base of its URLs and with or without avatars; as
 * long as these are the same, so is the text. The store raises them with every change, whoever makes it
 * (`db/migrations/revisions.ts`), and a query reads them before the text is made or taken: what is kept under them
 * is never older than they are. Nothing in a text depends on who looks.
 */
import type { TObject } from 'typebox';
import type { Call, Platform, DatedSite } from '../access/call.ts';
import { today } from '../access/viewer.ts';
import type { Reader } from '../db/open.ts';
import { JsonText } from '../http/endpoint.ts';
import { lazySerializer } from '../http/serializer.ts';
import { oncePer } from '../once_per.ts';

/** A record as it is now. */
export type Version = {
  id: number;
  revision: number;
  /** Of an issue: the merge requests that close it, as far as the caller sees them. */
  merge_requests_count?: number;
};

/** What a text depends on beside the record. */
type Look = {
  names_version: number;
  baseUrl: string;
  avatars: boolean;
  /** A milestone expires with its day. */
  today: string;
};

type Kept = Look & Omit<Version, 'id'> & { text: JsonText };

const mostBytes = 16 * 1024 * 1024;
/** What a text costs beside its bytes. */
const overhead = 300;

const sizeOf = ({ text }: Kept): number => text.bytes.length + overhead;

/** Texts by the record's id, the oldest dropped first. */
class Texts {
  readonly #kept = new Map<number, Kept>();
  #size = 0;

  get({ id, revision, merge_requests_count }: Version, look: Look): JsonText | undefined {
    const kept = this.#kept.get(id);
    const isSame =
      kept?.revision === revision &&
      kept.merge_requests_count === merge_requests_count &&
      kept.today === look.today &&
      kept.names_version === look.names_version &&
      kept.baseUrl === look.baseUrl &&
      kept.avatars === look.avatars;
    return isSame ? kept.text : undefined;
  }

  set(id: number, kept: Kept): void {
    this.#drop(id);
    this.#kept.set(id, kept);
    this.#size += sizeOf(kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= mostBytes) return;
      this.#drop(oldest);
    }
  }

  #drop(id: number): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    this.#size -= sizeOf(kept);
  }
}

type Asking = Pick<Call, 'platform' | 'db' | 'baseUrl' | 'settings' | 'names_version' | 'now'>;

type Kind<R> = {
  shape: TObject;
  /** The records of these ids, in no order. */
  read: (db: Reader, ids: readonly number[]) => Promise<R[]>;
  json: (record: R, site: DatedSite) => object;
  /** Told of the records whose texts are made. */
  made?: (platform: Platform, records: R[]) => void;
};

/** Answers the JSON of records, in their order. One that has just been removed is left out. */
export type TextsOf = (call: Asking, versions: readonly Version[]) => Promise<JsonText[]>;

/** Keeps the texts of one kind of record. */
export const keptTexts = <R extends Version>({ shape, read, json, made: tell }: Kind<R>): TextsOf => {
  const serialize = lazySerializer(shape);
  const textsOf = oncePer((_platform: Platform) => new Texts());
  return async ({ platform, db, baseUrl, settings, names_version, now }, versions) => {
    const texts = textsOf(platform);
    const look = { names_version, baseUrl, avatars: settings.avatar_service_enabled, today: today(now) };
    const found = versions.map((version) => texts.get(version, look));
    const missing = versions.filter((_version, index) => found[index] === undefined);
    if (missing.length === 0) return found as JsonText[];
    const made = new Map<number, JsonText>();
    const counts = new Map(missing.map(({ id, merge_requests_count }) => [id, merge_requests_count]));
    const records = await read(db, [...counts.keys()]);
    tell?.(platform, records);
    for (const record of records) {
      const count = counts.get(record.id);
      const counted = count === undefined ? {} : { merge_requests_count: count };
      const text = serialize(json({ ...record, ...counted }, { baseUrl, settings, now })).alone;
      texts.set(record.id, { ...look, ...counted, revision: record.revision, text });
      made.set(record.id, text);
    }
    return versions.flatMap(({ id }, index) => found[index] ?? made.get(id) ?? []);
  };
};

const openBrace = '{'.length;
const comma = Buffer.from(',');

/** An object with more members; both are texts of objects that have some. */
export const withMembers = (text: JsonText, more: object): JsonText => {
  const extras = Buffer.from(JSON.stringify(more)).subarray(openBrace);
  return new JsonText(Buffer.concat([text.bytes.subarray(0, -1), comma, extras]));
};
