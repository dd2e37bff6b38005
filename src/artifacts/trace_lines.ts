/** The lines of a trace, the last one first, as a person reads them. */
import type { AppendFiles, Named } from '../blob/append_files.ts';
import { buffer } from 'node:stream/consumers';

const block = 64 * 1024;
/** Bytes of one line that are looked at, and of the whole. */
const longestLine = 64 * 1024;
const most = 32 * 1024 * 1024;

/** What newer runners write before each line; with `+` it goes on with the line before. */
const stamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z [0-9a-f]{2}[OE]([ +])/;
// oxlint-disable-next-line no-control-regex -- colours, and marks of sections
const controls = /\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))/g;

const newline = 0x0a;

/** Lines as they lie in the file, from its end. */
const rawLines = async function* rawLines(traces: AppendFiles, of: Named): AsyncGenerator<string> {
  const size = (await traces.size(of)) ?? 0;
  let rest: Buffer = Buffer.alloc(0);
  for (let end = size; end > Math.max(0, size - most);) {
    const start = Math.max(0, end - block);
    // oxlint-disable-next-line no-await-in-loop -- one block before the other
    const stream = await traces.read(of, { start, end: end - 1 });
    if (stream === null) return;
    // oxlint-disable-next-line no-await-in-loop
    let part: Buffer = Buffer.concat([await buffer(stream), rest]);
    for (let at = part.lastIndexOf(newline); at !== -1; at = part.lastIndexOf(newline)) {
      yield part.subarray(at + 1, at + 1 + longestLine).toString();
      part = part.subarray(0, at);
    }
    // Of a line without an end, its beginning is what is looked at.
    rest = part.subarray(0, longestLine);
    end = start;
  }
  yield rest.toString();
};

/** Without times and colours, what was cut in several pieces put together again. */
export const linesFromEnd = async function* linesFromEnd(
  traces: AppendFiles,
  of: Named,
): AsyncGenerator<string> {
  let after = '';
  for await (const raw of rawLines(traces, of)) {
    const [mark, goesOn] = stamp.exec(raw) ?? [''];
    const line = raw.slice(mark.length) + after;
    if (goesOn === '+') {
      after = line.slice(0, longestLine);
      continue;
    }
    after = '';
    yield line.replace(controls, '').replace(/\r$/, '');
  }
  if (after !== '') yield after.replace(controls, '');
};
