/** Collects the patch texts of a diff, file by file. */
import type { DiffLimits, FileDiff } from '../protocol_records.ts';
import { decodeText } from '../decode_text.ts';

const lineFeed = 10;
const letterD = 'd'.codePointAt(0);
const at = '@'.codePointAt(0);
const plus = '+'.codePointAt(0);
const minus = '-'.codePointAt(0);

/** Longest header line: two paths with every byte escaped. */
const maxHeaderLength = 64 * 1024;

/** A byte that no text contains: bytes with it are binary. */
// oxlint-disable-next-line no-control-regex -- those are what is looked for
const binaryBytes = /[\u0000-\u0007\u000e-\u001a\u001c-\u001f]/;

type Texts = { chunks: Buffer[]; bytes: number; lines: number };

const isUtf8 = (bytes: Buffer): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
};

// oxlint-disable-next-line no-control-regex -- those are what is looked for
const odd = /[\u0000-\u001f\u007f"\\]/;

/** Quotes a name with special characters as git does. */
const quoted = (name: string): string =>
  odd.test(name) ? JSON.stringify(name).replaceAll(/\\u00(..)/g, (_whole, hex: string) => octal(hex)) : name;

const octal = (hex: string): string => `\\${Number.parseInt(hex, 16).toString(8).padStart(3, '0')}`;

/** Returns both names; `/dev/null` for a side that does not exist. */
const formatNames = (entry: FileDiff): [before: string, after: string] => [
  entry.new_file ? '/dev/null' : quoted(`a/${entry.old_path}`),
  entry.deleted_file ? '/dev/null' : quoted(`b/${entry.new_path}`),
];

/** git appends a tab to a name with spaces. */
const formatHeader = (entry: FileDiff): string => {
  const [before, after] = formatNames(entry).map((name) => `${name}${/ /.test(name) ? '\t' : ''}`);
  return `--- ${before}\n+++ ${after}\n`;
};

const binaryText = (entry: FileDiff): string => {
  const [before, after] = formatNames(entry);
  return `Binary files ${before} and ${after} differ\n`;
};

const asBinary = (entry: FileDiff): void => {
  entry.binary = true;
  entry.diff = binaryText(entry);
  entry.additions = 0;
  entry.deletions = 0;
};

const asTooLarge = (entry: FileDiff): void => {
  entry.too_large = true;
  entry.diff = '';
};

const giveText = (entry: FileDiff, { chunks }: Texts, limits: DiffLimits): void => {
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes) && binaryBytes.test(bytes.toString('latin1'))) return asBinary(entry);
  const text = `${formatHeader(entry)}${decodeText(bytes)}`;
  if (text.length > limits.file_bytes) asTooLarge(entry);
  else entry.diff = text;
};

const noTexts = (): Texts => ({ chunks: [], bytes: 0, lines: 0 });

export class Patch {
  readonly #entries: FileDiff[];
  readonly #limits: DiffLimits;
  #index = -1;
  #held: Buffer = Buffer.alloc(0);
  #inHunks = false;
  /** True if the next byte begins a line. */
  #atStart = true;
  #text = noTexts();
  #bytes = 0;
  #lines = 0;
  #isCut = false;
  #isEnough = false;

  /**
   * Fills in the texts of a diff's entries.
   * @param entries in git's order, which is also the order of the texts
   */
  constructor(entries: FileDiff[], limits: DiffLimits) {
    this.#entries = entries;
    this.#limits = limits;
  }

  /** Returns true when it needs no more input. */
  push(chunk: Buffer): boolean {
    const data = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let from = 0;
    while (from < data.length && !this.#isEnough) {
      const then = this.#step(data, from);
      if (then < 0) break;
      from = then;
    }
    this.#held = data.subarray(this.#isEnough ? data.length : from);
    return this.#isEnough;
  }

  /** Returns whether something was left out because of the limits of the whole diff. */
  finish(): boolean {
    if (!this.#isCut) this.#close();
    return this.#isCut;
  }

  /** Consumes one line or part of a line. Returns where the next begins, or -1 if more input is needed. */
  #step(data: Buffer, from: number): number {
    const first = data[from];
    if (this.#atStart && !this.#inHunks && first === at) this.#inHunks = true;
    if (this.#atStart && (!this.#inHunks || first === letterD)) return this.#readHeader(data, from);
    if (this.#atStart) this.#count(first);
    const end = data.indexOf(lineFeed, from);
    const until = end < 0 ? data.length : end + 1;
    this.#add(data.subarray(from, until));
    this.#atStart = end >= 0;
    return until;
  }

  #readHeader(data: Buffer, from: number): number {
    const end = data.indexOf(lineFeed, from);
    if (end < 0 && data.length - from < maxHeaderLength) return -1;
    const until = end < 0 ? data.length : end;
    const line = data.toString('latin1', from, until);
    const entry = this.#entries[this.#index];
    if (line.startsWith('diff --git ')) this.#next();
    else if (line.startsWith('index ')) this.#skipTo(line);
    else if (line.startsWith('Binary files ') && entry !== undefined) asBinary(entry);
    return end < 0 ? data.length : end + 1;
  }

  #count(first: number | undefined): void {
    const entry = this.#entries[this.#index];
    this.#text.lines += 1;
    if (entry === undefined) return;
    if (first === plus) entry.additions += 1;
    if (first === minus) entry.deletions += 1;
  }

  #add(part: Buffer): void {
    this.#text.bytes += part.length;
    if (this.#text.bytes <= this.#mostBytes()) this.#text.chunks.push(part);
    else this.#text.chunks = [];
  }

  /** One UTF-16 code unit takes at most three bytes of UTF-8. */
  #mostBytes(): number {
    return 3 * this.#limits.file_bytes;
  }

  /** Starts the text of the next file. */
  #next(): void {
    this.#close();
    this.#index += 1;
    this.#inHunks = false;
    const { bytes, lines } = this.#limits;
    if (this.#index >= this.#entries.length) this.#isEnough = true;
    else if (this.#bytes > bytes || this.#lines > lines) this.#cut();
  }

  /** Skips entries without a text: git shows none if only white space differs, if that is ignored. */
  #skipTo(line: string): void {
    const [, before, after] = /^index ([0-9a-f]{40})\.\.([0-9a-f]{40})/.exec(line) ?? [];
    const index = this.#entries.findIndex(
      ({ old_id, new_id }, at) => at >= this.#index && old_id === before && new_id === after,
    );
    if (index >= 0) this.#index = index;
  }

  #close(): void {
    const entry = this.#entries[this.#index];
    if (entry === undefined || !this.#inHunks) return;
    const text = this.#text;
    this.#text = noTexts();
    if (text.bytes > this.#mostBytes()) asTooLarge(entry);
    else giveText(entry, text, this.#limits);
    if (entry.diff === '') return;
    this.#bytes += text.bytes;
    this.#lines += text.lines;
  }

  #cut(): void {
    for (const rest of this.#entries.slice(this.#index)) asTooLarge(rest);
    this.#isCut = true;
    this.#isEnough = true;
  }
}
