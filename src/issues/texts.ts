/**
 * The JSON of issues as lists show them, kept between requests. A text is of one issue at one `revision`, under one
 * version of the names that it shows, one base of its URLs and with or without avatars; as long as these are the same, so is the text. The
 * store raises them with every change, whoever makes it (`db/migrations/revisions.ts`), and a query reads them
 * before the text is made or taken: what is kept under them is never older than they are. Nothing in a text depends
 * on who looks.
 */
import type { Call, Platform } from '../access/call.ts';
import type { JsonText } from '../http/endpoint.ts';
import { lazySerializer } from '../http/serializer.ts';
import { issueJson, issueShape } from './json.ts';
import { issuesById } from './rows.ts';

/** An issue as it is now. */
export type Version = { id: number; revision: number };

/** What a text depends on beside the issue. */
type Look = { names_version: number; baseUrl: string; avatars: boolean };

type Kept = Look & { revision: number; text: JsonText };

const mostBytes = 16 * 1024 * 1024;
/** What a text costs beside its bytes. */
const overhead = 300;

const sizeOf = ({ text }: Kept): number => text.bytes.length + overhead;

/** Texts by the issue's id, the oldest dropped first. */
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

const ofPlatform = new WeakMap<Platform, Texts>();

const textsOf = (platform: Platform): Texts => {
  const known = ofPlatform.get(platform);
  if (known !== undefined) return known;
  const fresh = new Texts();
  ofPlatform.set(platform, fresh);
  return fresh;
};

const serialize = lazySerializer(issueShape);

type Asking = Pick<Call, 'platform' | 'db' | 'baseUrl' | 'settings' | 'names_version'>;

/** The issues' JSON, in their order. One that has just been removed is left out. */
export const issueTexts = async (
  { platform, db, baseUrl, settings, names_version }: Asking,
  versions: readonly Version[],
): Promise<JsonText[]> => {
  const texts = textsOf(platform);
  const look = { names_version, baseUrl, avatars: settings.avatar_service_enabled };
  const found = versions.map((version) => texts.get(version, look));
  const missing = versions.filter((_version, index) => found[index] === undefined);
  if (missing.length === 0) return found as JsonText[];
  const made = new Map<number, JsonText>();
  for (const issue of await issuesById(
    db,
    missing.map(({ id }) => id),
  )) {
    const text = serialize(issueJson(issue, { baseUrl, settings })).alone;
    texts.set(issue.id, { ...look, revision: issue.revision, text });
    made.set(issue.id, text);
  }
  return versions.flatMap(({ id }, index) => found[index] ?? made.get(id) ?? []);
};
