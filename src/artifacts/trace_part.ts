/** A long trace in parts, for those who read it as pages. */
import { buffer } from 'node:stream/consumers';
import type { JobRow } from '../jobs/rows.ts';
import { oncePer } from '../once_per.ts';
import { type Reading, readTrace, traceSize } from './trace_answer.ts';

/** Bytes; the lines that begin in them are a part. */
const partSize = 128 * 1024;
/** Bytes of a part's last line that are shown beyond it. */
const longestRest = 64 * 1024;
const newline = 0x0a;

export type TracePart = {
  /** The parts that these are: of `parts`, from 0 on. */
  first: number;
  last: number;
  parts: number;
  /** Bytes of the whole. */
  size: number;
  /** Whole lines, but for the last one of a trace that still grows. */
  text: string;
  /** Number of the first line. */
  line: number;
};

const bytesOf = async (of: Reading, job: JobRow, start: number, end: number): Promise<Buffer> => {
  const stream = end < start ? null : await readTrace(of.platform, job, { start, end });
  return stream === null ? Buffer.alloc(0) : await buffer(stream);
};

/** Ends of lines in the parts that are full, of the jobs that were asked for last: they are counted once. */
type Counts = { size: number; ends: number[] };
const mostCounted = 1_000;
const countedOf = oncePer((_traces) => new Map<number, Counts>());

const countsOf = ({ platform: { traces } }: Reading, { id }: JobRow, size: number): number[] => {
  const all = countedOf(traces);
  const known = all.get(id);
  // One that is shorter than it was began anew.
  const ends = known === undefined || known.size > size ? [] : known.ends;
  all.delete(id);
  all.set(id, { size, ends });
  const [oldest] = all.keys();
  if (all.size > mostCounted && oldest !== undefined) all.delete(oldest);
  return ends;
};

const endsIn = (bytes: Buffer): number => {
  let count = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) count += 1;
  return count;
};

type Grown = { job: JobRow; size: number };

const endsInPart = async (of: Reading, { job, size }: Grown, part: number): Promise<number> => {
  const ends = countsOf(of, job, size);
  const known = ends[part];
  if (known !== undefined) return known;
  const [start, end] = [part * partSize, (part + 1) * partSize];
  const count = endsIn(await bytesOf(of, job, start, Math.min(size, end) - 1));
  if (end <= size) ends[part] = count;
  return count;
};

/** Lines that end before this byte. */
export const linesBefore = async (of: Reading, grown: Grown, end: number): Promise<number> => {
  const whole = Math.floor(end / partSize);
  let count = endsIn(await bytesOf(of, grown.job, whole * partSize, end - 1));
  // oxlint-disable-next-line no-await-in-loop -- one part in memory after another
  for (let part = 0; part < whole; part += 1) count += await endsInPart(of, grown, part);
  return count;
};

/** The part in which a line begins; past the end the last. */
const partOfLine = async (of: Reading, grown: Grown, line: number): Promise<number> => {
  const { job, size } = grown;
  let left = line - 1;
  if (left <= 0) return 0;
  // oxlint-disable no-await-in-loop -- one part in memory after another
  for (let start = 0; start < size; start += partSize) {
    const ends = await endsInPart(of, grown, start / partSize);
    if (ends >= left) {
      const bytes = await bytesOf(of, job, start, Math.min(size, start + partSize) - 1);
      let at = -1;
      for (; left > 0; left -= 1) at = bytes.indexOf(newline, at + 1);
      return Math.floor(Math.min(start + at + 1, size - 1) / partSize);
    }
    left -= ends;
  }
  // oxlint-enable no-await-in-loop
  return Math.floor((size - 1) / partSize);
};

/** Without what belongs to the line before, and to the one that begins after the end. */
const wholeLines = (bytes: Buffer, length: number, isFirst: boolean): Buffer => {
  const start = isFirst ? 0 : bytes.indexOf(newline) + 1;
  if (!isFirst && (start === 0 || start >= length)) return bytes.subarray(0, 0);
  const end = bytes.indexOf(newline, length - 1);
  return bytes.subarray(start, end === -1 ? bytes.length : end + 1);
};

/** A part from 0 on, or the one of a line from 1 on. */
type Asked = { part: number } | { line: number };

/**
 * @param asked null: the last two, where what matters mostly stands
 * @returns null: there is no trace, or no such part
 */
export const tracePart = async (of: Reading, job: JobRow, asked: Asked | null): Promise<TracePart | null> => {
  const size = await traceSize(of, job);
  if (size === null) return null;
  const parts = Math.ceil(size / partSize);
  let [first, last] = [Math.max(0, parts - 2), parts - 1];
  if (asked !== null) {
    first = 'part' in asked ? asked.part : await partOfLine(of, { job, size }, asked.line);
    last = first;
  }
  if (last >= parts) return null;
  // From the byte before on: where that ends a line, the next one begins here.
  const start = Math.max(0, first * partSize - 1);
  const end = Math.min(size, (last + 1) * partSize);
  const bytes = await bytesOf(of, job, start, Math.min(size, end + longestRest) - 1);
  const lines = wholeLines(bytes, end - start, start === 0);
  const from = start + (lines.byteOffset - bytes.byteOffset);
  const line = 1 + (await linesBefore(of, { job, size }, from));
  return { first, last, parts, size, text: lines.toString(), line };
};
