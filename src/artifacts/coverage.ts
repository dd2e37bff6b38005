import type { Platform } from '../access/call.ts';
import type { Named } from '../blob/append_files.ts';
import { linesFromEnd } from './trace_lines.ts';

/** Hundredths of a percent that a column takes. */
const largest = 2 ** 31 - 1;

/** What looking for it may cost: of one line, while all else waits, and of a whole log. */
const most = { line: 4_000_000, log: 200_000_000 };

/**
 * What a job says of its coverage: the first number in the last match, of the last line that has one.
 * @param expression `/source/flags`, as configurations write it
 * @returns hundredths of a percent; null: it says nothing
 */
export const coverageOf = async (
  { traces }: Pick<Platform, 'traces'>,
  job: Named,
  expression: string,
): Promise<number | null> => {
  const { patternOf } = await import('../ci_file/pattern.ts');
  const pattern = patternOf(expression);
  if (pattern === null) return null;
  let spent = 0;
  for await (const whole of linesFromEnd(traces, job)) {
    const line = whole.slice(-Math.ceil(most.line / pattern.size));
    spent += (line.length + 1) * pattern.size;
    if (spent > most.log) return null;
    const last = pattern.last(line) ?? undefined;
    const number = last === undefined ? undefined : /\d+(?:\.\d+)?/.exec(last)?.[0];
    if (number !== undefined) return Math.min(Math.round(Number(number) * 100), largest);
  }
  return null;
};
