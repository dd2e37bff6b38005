/** Splits a long trace into parts, for pages. */
import { buffer } from 'node:stream/consumers';
import type { JobRow } from '../../jobs/rows.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import { type TraceReader, readTrace, getTraceSize } from './serve_trace.ts';

/** Bytes of a part; a line belongs to the part in which it begins. */
const partSize = 128 * 1024;
/** Maximum bytes by which the last line of a part may exceed it. */
const maxRestBytes = 64 * 1024;
const newline = 0x0a;

export type TracePart = {
  /** Range of parts in this answer, counted from 0, of `parts` in all. */
  first: number;
  last: number;
  parts: number;
  /** Bytes of the whole trace. */
  size: number;
  /** Whole lines, except the last line of a growing trace. */
  text: string;
  /** Number of the first line. */
  line: number;
};

const readBytes = async (reader: TraceReader, job: JobRow, start: number, end: number): Promise<Buffer> => {
  const stream = end < start ? null : await readTrace(reader.platform, job, { start, end });
  return stream === null ? Buffer.alloc(0) : await buffer(stream);
};

/** Line ends in each full part, counted once and cached for the jobs read last. */
type Counts = { size: number; ends: number[] };
const maxCounted = 1_000;
const getCachedCounts = memoizePerStore((_traces) => new Map<number, Counts>());

const getCounts = ({ platform: { traces } }: TraceReader, { id }: JobRow, size: number): number[] => {
  const countsByJob = getCachedCounts(traces);
  const cached = countsByJob.get(id);
  // A trace that is shorter than before was restarted.
  const ends = cached === undefined || cached.size > size ? [] : cached.ends;
  countsByJob.delete(id);
  countsByJob.set(id, { size, ends });
  const [oldest] = countsByJob.keys();
  if (countsByJob.size > maxCounted && oldest !== undefined) countsByJob.delete(oldest);
  return ends;
};

const findLineEnds = (bytes: Buffer): number => {
  let count = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) count += 1;
  return count;
};

type Grown = { job: JobRow; size: number };

const countEndsInPart = async (reader: TraceReader, { job, size }: Grown, part: number): Promise<number> => {
  const ends = getCounts(reader, job, size);
  const ready = ends[part];
  if (ready !== undefined) return ready;
  const [start, end] = [part * partSize, (part + 1) * partSize];
  const count = findLineEnds(await readBytes(reader, job, start, Math.min(size, end) - 1));
  if (end <= size) ends[part] = count;
  return count;
};

/** Counts the lines that end before this byte. */
export const countLinesBefore = async (reader: TraceReader, grown: Grown, end: number): Promise<number> => {
  const whole = Math.floor(end / partSize);
  let count = findLineEnds(await readBytes(reader, grown.job, whole * partSize, end - 1));
  for (let part = 0; part < whole; part += 1) count += await countEndsInPart(reader, grown, part);
  return count;
};

/** Finds the part in which a line begins; past the end, the last part. */
const findPartOfLine = async (reader: TraceReader, grown: Grown, line: number): Promise<number> => {
  const { job, size } = grown;
  let remaining = line - 1;
  if (remaining <= 0) return 0;
  for (let start = 0; start < size; start += partSize) {
    const ends = await countEndsInPart(reader, grown, start / partSize);
    if (ends >= remaining) {
      const bytes = await readBytes(reader, job, start, Math.min(size, start + partSize) - 1);
      let at = -1;
      for (; remaining > 0; remaining -= 1) at = bytes.indexOf(newline, at + 1);
      return Math.floor(Math.min(start + at + 1, size - 1) / partSize);
    }
    remaining -= ends;
  }
  return Math.floor((size - 1) / partSize);
};

/** Cuts off the incomplete lines at both ends of a block. */
const cutToWholeLines = (bytes: Buffer, length: number, isFirst: boolean): Buffer => {
  const start = isFirst ? 0 : bytes.indexOf(newline) + 1;
  if (!isFirst && (start === 0 || start >= length)) return bytes.subarray(0, 0);
  const end = bytes.indexOf(newline, length - 1);
  return bytes.subarray(start, end === -1 ? bytes.length : end + 1);
};

/** A part from 0 on, or the part of a line from 1 on. */
type PartQuery = { part: number } | { line: number };

/**
 * Reads parts of a trace.
 * @param query null: the last two parts, which matter most
 * @returns null if the job has no trace or no such part
 */
export const readTracePart = async (
  reader: TraceReader,
  job: JobRow,
  query: PartQuery | null,
): Promise<TracePart | null> => {
  const size = await getTraceSize(reader, job);
  if (size === null) return null;
  const parts = Math.ceil(size / partSize);
  let [first, last] = [Math.max(0, parts - 2), parts - 1];
  if (query !== null) {
    first = 'part' in query ? query.part : await findPartOfLine(reader, { job, size }, query.line);
    last = first;
  }
  if (last >= parts) return null;
  // Include the byte before: if it ends a line, the next line begins here.
  const start = Math.max(0, first * partSize - 1);
  const end = Math.min(size, (last + 1) * partSize);
  const bytes = await readBytes(reader, job, start, Math.min(size, end + maxRestBytes) - 1);
  const lines = cutToWholeLines(bytes, end - start, start === 0);
  const from = start + (lines.byteOffset - bytes.byteOffset);
  const line = 1 + (await countLinesBefore(reader, { job, size }, from));
  return { first, last, parts, size, text: lines.toString(), line };
};
