/** Reads the lines of a trace backwards, without control codes. */
import type { AppendFiles } from '../../../platform/blob/append_files.ts';
import type { TraceKey } from '../../../platform/blob/trace_path.ts';
import { buffer } from 'node:stream/consumers';
import { parseTraceLine } from './line_timestamp.ts';

const block = 64 * 1024;
/** Maximum bytes read of one line, and of the whole trace. */
const maxLineBytes = 64 * 1024;
const maxBytes = 32 * 1024 * 1024;

// oxlint-disable-next-line no-control-regex -- colors and section marks
const controls = /\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))/g;

const newline = 0x0a;

/** Yields the raw lines, the last one first. */
const readRawLines = async function* rawLines(traces: AppendFiles, file: TraceKey): AsyncGenerator<string> {
  const size = (await traces.size(file)) ?? 0;
  let rest: Buffer = Buffer.alloc(0);
  for (let end = size; end > Math.max(0, size - maxBytes);) {
    const start = Math.max(0, end - block);
    const stream = await traces.read(file, { start, end: end - 1 });
    if (stream === null) return;
    let part: Buffer = Buffer.concat([await buffer(stream), rest]);
    for (let at = part.lastIndexOf(newline); at !== -1; at = part.lastIndexOf(newline)) {
      yield part.subarray(at + 1, at + 1 + maxLineBytes).toString();
      part = part.subarray(0, at);
    }
    // Searches only the beginning of a very long line.
    rest = part.subarray(0, maxLineBytes);
    end = start;
  }
  yield rest.toString();
};

/** Yields lines from the end, without timestamps and colors; continued lines are joined. */
export const readLinesBackwards = async function* linesFromEnd(
  traces: AppendFiles,
  file: TraceKey,
): AsyncGenerator<string> {
  let after = '';
  for await (const raw of readRawLines(traces, file)) {
    const { text, continuesLine } = parseTraceLine(raw);
    const line = text + after;
    if (continuesLine) {
      after = line.slice(0, maxLineBytes);
      continue;
    }
    after = '';
    yield line.replace(controls, '').replace(/\r$/, '');
  }
  if (after !== '') yield after.replace(controls, '');
};
