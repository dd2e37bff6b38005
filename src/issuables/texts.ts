/**
 * The JSON of issues and merge requests as lists show them, kept between requests. A text is of one record at one
 * `revision`, under one version of the names that it shows, one base of its URLs and with or without avatars; as
 * long as these are the same, so is the text. The store raises them with every change, whoever makes it
 * (`db/migrations/revisions.ts`), and a query reads them before the text is made or taken: what is kept under them
 * is never older than they are. Nothing in a text depends on who looks.
 */
import type { TObject } from 'typebox';
import type { Call, Platform, Site } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import { JsonText } from '../http/endpoint.ts';
import { lazySerializer } from '../http/serializer.ts';
import { oncePer } from '../once_per.ts';

/** A record as it is now. */
export type Version = { id: number; revision: number };

/** What a text depends on beside the record. */
type Look = { names_version: number; baseUrl: string; avatars: boolean };

type Kept = Look & { revision: number; text: JsonText };

const mostBytes = 16 * 1024 * 1024;
/** What a text costs beside its bytes. */
const overhead = 300;

const sizeOf = ({ text }: Kept): number => text.bytes.length + overhead;

/** Texts by the record's id, the oldest dropped first. */
class Texts {
  readonly #kept = new Map<number, Kept>();
  #size = 0;

  get({ id, revision }: Version, look: Look): JsonText | undefined {
    const kept = this.#kept.get(id);
    const isSame =
      kept?.revision === revision &&
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

type Asking = Pick<Call, 'platform' | 'db' | 'baseUrl' | 'settings' | 'names_version'>;

type Kind<R> = {
  shape: TObject;
  /** The records of these ids, in no order. */
  read: (db: Reader, ids: readonly number[]) => Promise<R[]>;
  json: (record: R, site: Site) => object;
  /** Told of the records whose texts are made. */
  made?: (platform: Platform, records: R[]) => void;
};

/** Answers the JSON of records, in their order. One that has just been removed is left out. */
export type TextsOf = (call: Asking, versions: readonly Version[]) => Promise<JsonText[]>;

/** Keeps the texts of one kind of record. */
export const keptTexts = <R extends Version>({ shape, read, json, made: tell }: Kind<R>): TextsOf => {
  const serialize = lazySerializer(shape);
  const textsOf = oncePer((_platform: Platform) => new Texts());
  return async ({ platform, db, baseUrl, settings, names_version }, versions) => {
    const texts = textsOf(platform);
    const look = { names_version, baseUrl, avatars: settings.avatar_service_enabled };
    const found = versions.map((version) => texts.get(version, look));
    const missing = versions.filter((_version, index) => found[index] === undefined);
    if (missing.length === 0) return found as JsonText[];
    const made = new Map<number, JsonText>();
    const ids = missing.map(({ id }) => id);
    const records = await read(db, ids);
    tell?.(platform, records);
    for (const record of records) {
      const text = serialize(json(record, { baseUrl, settings })).alone;
      texts.set(record.id, { ...look, revision: record.revision, text });
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
