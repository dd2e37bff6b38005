import type { Platform } from '../../../core/platform.ts';
import type { TraceKey } from '../../../platform/blob/trace_path.ts';
import { readLinesBackwards } from '../traces/read_lines_backwards.ts';

/** Largest value of the column, in hundredths of a percent. */
const maxCoverage = 2 ** 31 - 1;

/** Limits on the cost of matching: of one line, which blocks the event loop, and of a whole log. */
const maxCost = { line: 4_000_000, log: 200_000_000 };

/**
 * Reads the coverage of a job from its trace: the first number in the last match, of the last line that has one.
 * @param expression `/source/flags`, as configurations write it
 * @returns hundredths of a percent; null without a match
 */
export const readCoverage = async (
  { traces }: Pick<Platform, 'traces'>,
  job: TraceKey,
  expression: string,
): Promise<number | null> => {
  const { parsePattern } = await import('../../../platform/pattern.ts');
  const pattern = parsePattern(expression);
  if (pattern === null) return null;
  let spent = 0;
  for await (const whole of readLinesBackwards(traces, job)) {
    const line = whole.slice(-Math.ceil(maxCost.line / pattern.size));
    spent += (line.length + 1) * pattern.size;
    if (spent > maxCost.log) return null;
    const last = pattern.last(line) ?? undefined;
    const number = last === undefined ? undefined : /\d+(?:\.\d+)?/.exec(last)?.[0];
    if (number !== undefined) return Math.min(Math.round(Number(number) * 100), maxCoverage);
  }
  return null;
};
