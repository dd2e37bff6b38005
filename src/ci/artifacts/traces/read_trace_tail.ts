import type { JobRow } from '../../jobs/rows.ts';
import { readLinesBackwards } from './read_lines_backwards.ts';
import { type TraceReader, getTraceSize } from './serve_trace.ts';

const sectionMark = /^section_(?:start|end):\d+:/;

/**
 * Reads the last lines of a job's trace, without colors, section marks and empty lines at the end.
 * @param longest characters of a line that are kept
 * @returns the lines in order; none where the reader may not read the trace
 */
export const readTraceTail = async (
  reader: TraceReader,
  job: JobRow,
  { lines: most, longest }: { lines: number; longest: number },
): Promise<string[]> => {
  if ((await getTraceSize(reader, job)) === null) return [];
  const lines: string[] = [];
  for await (const line of readLinesBackwards(reader.platform.traces, job)) {
    if (sectionMark.test(line) || (lines.length === 0 && line.trim() === '')) continue;
    // What follows a carriage return was written over what stands before it.
    lines.unshift(line.slice(line.lastIndexOf('\r') + 1).slice(0, longest));
    if (lines.length === most) break;
  }
  return lines;
};
