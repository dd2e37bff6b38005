import type { JobRow } from '../../jobs/rows.ts';
import { readLinesBackwards } from './read_lines_backwards.ts';
import { type TraceReader, getTraceSize } from './serve_trace.ts';

/** Marks at the start of a line, which runners write before its text. */
const sectionMarks = /^(?:section_(?:start|end):\d+:[^\r\n]*(?:\r|$))+/;

/** Lines that are read at most, however many of them are empty. */
const maxRead = 1_000;

/**
 * Reads the last lines of a job's trace, without colors, section marks and empty lines at the end.
 * @param longest characters of a line that are kept
 * @returns the lines in order; none if the reader may not read the trace
 */
export const readTraceTail = async (
  reader: TraceReader,
  job: JobRow,
  { lines: most, longest }: { lines: number; longest: number },
): Promise<string[]> => {
  if ((await getTraceSize(reader, job)) === null) return [];
  const lines: string[] = [];
  let read = 0;
  for await (const line of readLinesBackwards(reader.platform.traces, job)) {
    const text = line.replace(sectionMarks, '');
    const isEmpty = text.trim() === '' && (lines.length === 0 || text !== line);
    // Text after a carriage return overwrites the text before it.
    if (!isEmpty) lines.unshift(text.slice(text.lastIndexOf('\r') + 1).slice(0, longest));
    read += 1;
    if (lines.length === most || read === maxRead) break;
  }
  return lines;
};
