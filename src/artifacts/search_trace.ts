/** Lines of a trace with some text in them: as a person reads them, in whichever case. */
import { buffer } from 'node:stream/consumers';
import type { JobRow } from '../jobs/rows.ts';
import { type Reading, readTrace, traceSize } from './trace_answer.ts';
import { linesBefore } from './trace_part.ts';

const block = 256 * 1024;
/** Bytes that one search looks at, and lines that it finds; of one line, bytes that are looked at. */
const most = { bytes: 16 * 1024 * 1024, found: 100, line: 64 * 1024 };
const newline = 0x0a;

// oxlint-disable-next-line no-control-regex -- this is what it looks for
const colours = /\x1b\[[0-9;?<=>]*[ -/]*[@-~]/g;
const marks = /section_(?:start|end):\d{1,12}:[\w.-]{1,255}(?:\[[^\]\r]{0,255}\])?\r/g;
// oxlint-disable-next-line no-control-regex -- all but tabs; and what turns the direction of text
const unseen = /[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g;
// oxlint-disable-next-line no-control-regex
const hasControls = /[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]/;
/** What newer runners write before each line. */
const stamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z [0-9a-f]{2}[OE][ +]/;

/** A line, by its number from 1 on: what stands before the text, the text as it stands there, and what follows. */
export type Found = { line: number; before: string; text: string; after: string };

export type Search = {
  found: Found[];
  /** The byte from which to go on; null: nothing is left. */
  next: number | null;
};

/** Characters that are shown around what was found. */
const around = 120;

/** Without colours, marks and what nobody sees: most lines have none of that. */
const plain = (raw: string): string => {
  const line = raw.replace(stamp, '');
  if (!hasControls.test(line)) return line;
  return line.replace(colours, '').replace(marks, '').replace(unseen, '');
};

const matchIn = (raw: string, wanted: string): Omit<Found, 'line'> | null => {
  const line = plain(raw);
  const at = line.toLowerCase().indexOf(wanted);
  if (at === -1) return null;
  const end = at + wanted.length;
  const [first, last] = [Math.max(0, at - around), Math.min(line.length, end + around)];
  return {
    before: `${first > 0 ? '…' : ''}${line.slice(first, at)}`,
    text: line.slice(at, end),
    after: `${line.slice(end, last)}${last < line.length ? '…' : ''}`,
  };
};

type Line = { end: number; text: string };

/** The lines that end in a block, and what is left of it; of a long line its beginning. */
const split = (bytes: Buffer, held: Buffer, at: number): { lines: Line[]; rest: Buffer } => {
  const lines: Line[] = [];
  let begun = 0;
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, begun)) {
    const own = bytes.subarray(begun, end);
    const line = begun === 0 && held.length > 0 ? Buffer.concat([held, own]) : own;
    lines.push({ end: at + end + 1, text: line.toString('utf8', 0, most.line) });
    begun = end + 1;
  }
  const rest = begun === 0 ? Buffer.concat([held, bytes]) : bytes.subarray(begun);
  return { lines, rest: rest.subarray(0, most.line) };
};

/** Whole lines from a byte on, as far as one search looks, a block at a time. */
const linesFrom = async function* linesFrom(
  call: Reading,
  job: JobRow,
  from: number,
): AsyncGenerator<Line[]> {
  const all = (await traceSize(call, job)) ?? 0;
  const size = Math.min(all, from + most.bytes);
  let [start, held]: [number, Buffer] = [from, Buffer.alloc(0)];
  for (let at = from; at < size; at += block) {
    // oxlint-disable-next-line no-await-in-loop -- one block in memory after another
    const stream = await readTrace(call.platform, job, { start: at, end: Math.min(size, at + block) - 1 });
    if (stream === null) return;
    // oxlint-disable-next-line no-await-in-loop
    const { lines, rest } = split(await buffer(stream), held, at);
    held = rest;
    start = lines.at(-1)?.end ?? start;
    yield lines;
  }
  // What the look ends within is the next one's, but for a line that is longer than any look.
  if (start < size && (size === all || start === from)) yield [{ end: size, text: held.toString() }];
};

/**
 * The first lines with this text, from a byte on: no more than one look bears.
 * @param from 0, or what a search before this one answered
 */
export const searchTrace = async (
  call: Reading,
  job: JobRow,
  { text, from }: { text: string; from: number },
): Promise<Search | null> => {
  const size = await traceSize(call, job);
  if (size === null) return null;
  const wanted = text.toLowerCase();
  const found: Found[] = [];
  let line = 1 + (await linesBefore(call, { job, size }, Math.min(from, size)));
  let next = from;
  search: for await (const lines of linesFrom(call, job, from)) {
    for (const one of lines) {
      const match = matchIn(one.text, wanted);
      if (match !== null) found.push({ line, ...match });
      line += 1;
      next = one.end;
      if (found.length === most.found) break search;
    }
  }
  return { found, next: next < size ? next : null };
};
