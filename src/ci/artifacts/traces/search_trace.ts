/** Searches a trace for a text, ignoring case and control codes. */
import { buffer } from 'node:stream/consumers';
import type { JobRow } from '../../jobs/rows.ts';
import { parseTraceLine } from './line_timestamp.ts';
import { type TraceReader, readTrace, getTraceSize } from './serve_trace.ts';
import { countLinesBefore } from './read_trace_part.ts';

const block = 256 * 1024;
/** Maximum bytes that one search reads, most matches it returns, and most bytes it reads of one line. */
const limits = { bytes: 16 * 1024 * 1024, matches: 100, line: 64 * 1024 };
const newline = 0x0a;

// oxlint-disable-next-line no-control-regex -- this matches escape sequences
const colors = /\x1b\[[0-9;?<=>]*[ -/]*[@-~]/g;
const marks = /section_(?:start|end):\d{1,12}:[\w.-]{1,255}(?:\[[^\]\r]{0,255}\])?\r/g;
// oxlint-disable-next-line no-control-regex -- all control characters but tabs, and bidirectional overrides
const invisible = /[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g;
// oxlint-disable-next-line no-control-regex
const hasControls = /[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]/;

/** A matching line, numbered from 1: the text before the match, the match as written, and the text after it. */
export type TraceMatch = { line: number; before: string; text: string; after: string };

export type Search = {
  matches: TraceMatch[];
  /** The byte offset at which to resume; null at the end. */
  next: number | null;
};

/** Characters shown on each side of a match. */
const contextLength = 120;

/** Removes colors, section marks and invisible characters; most lines have none. */
const stripControls = (line: string): string => {
  if (!hasControls.test(line)) return line;
  return line.replace(colors, '').replace(marks, '').replace(invisible, '');
};

const findMatch = (text: string, lowered: string): Omit<TraceMatch, 'line'> | null => {
  const line = stripControls(text);
  const at = line.toLowerCase().indexOf(lowered);
  if (at === -1) return null;
  const end = at + lowered.length;
  const [first, last] = [Math.max(0, at - contextLength), Math.min(line.length, end + contextLength)];
  return {
    before: `${first > 0 ? '…' : ''}${line.slice(first, at)}`,
    text: line.slice(at, end),
    after: `${line.slice(end, last)}${last < line.length ? '…' : ''}`,
  };
};

type Line = { end: number; text: string };

/** Splits a block into complete lines and the incomplete rest. A long line is cut. */
const split = (bytes: Buffer, held: Buffer, at: number): { lines: Line[]; rest: Buffer } => {
  const lines: Line[] = [];
  let begun = 0;
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, begun)) {
    const own = bytes.subarray(begun, end);
    const line = begun === 0 && held.length > 0 ? Buffer.concat([held, own]) : own;
    lines.push({ end: at + end + 1, text: line.toString('utf8', 0, limits.line) });
    begun = end + 1;
  }
  const rest = begun === 0 ? Buffer.concat([held, bytes]) : bytes.subarray(begun);
  return { lines, rest: rest.subarray(0, limits.line) };
};

/** Yields whole lines from a byte offset, block by block, up to the limit of one search. */
const readLines = async function* linesFrom(
  call: TraceReader,
  job: JobRow,
  from: number,
): AsyncGenerator<Line[]> {
  const wholeSize = (await getTraceSize(call, job)) ?? 0;
  const size = Math.min(wholeSize, from + limits.bytes);
  let [start, held]: [number, Buffer] = [from, Buffer.alloc(0)];
  for (let at = from; at < size; at += block) {
    const stream = await readTrace(call.platform, job, { start: at, end: Math.min(size, at + block) - 1 });
    if (stream === null) return;
    const { lines, rest } = split(await buffer(stream), held, at);
    held = rest;
    start = lines.at(-1)?.end ?? start;
    yield lines;
  }
  // A line cut by the limit belongs to the next search, unless it is longer than the limit itself.
  if (start < size && (size === wholeSize || start === from)) yield [{ end: size, text: held.toString() }];
};

/**
 * Returns the first matches from a byte offset, up to the limits of one search.
 * @param from 0, or the `next` of the previous search
 */
export const searchTrace = async (
  call: TraceReader,
  job: JobRow,
  { text, from }: { text: string; from: number },
): Promise<Search | null> => {
  const size = await getTraceSize(call, job);
  if (size === null) return null;
  const needle = text.toLowerCase();
  const matches: TraceMatch[] = [];
  let line = 1 + (await countLinesBefore(call, { job, size }, Math.min(from, size)));
  // A line that continues another is shown as a part of it.
  let shownLine = line;
  let next = from;
  search: for await (const lines of readLines(call, job, from)) {
    for (const read of lines) {
      const { text: content, continuesLine } = parseTraceLine(read.text);
      if (!continuesLine) shownLine = line;
      const match = findMatch(content, needle);
      if (match !== null) matches.push({ line: shownLine, ...match });
      line += 1;
      next = read.end;
      if (matches.length === limits.matches) break search;
    }
  }
  return { matches, next: next < size ? next : null };
};
