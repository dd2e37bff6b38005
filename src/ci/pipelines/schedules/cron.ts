/** Computes the next run of a schedule. The cron library is loaded on first use. */
import { resolveTimeZone } from './time_zones.ts';

export type Cron = { cron: string; cron_timezone: string };

const maxPatternLength = 255;
/** Minute, hour, day, month, weekday; or a shorthand such as `@daily`. */
const patternSyntax = /^(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|\S+(?:[ \t]+\S+){4})$/i;

/** @returns milliseconds since 1970; null if it never runs again */
const computeNextTime = async (pattern: string, timezone: string, after: number): Promise<number | null> => {
  const { Cron } = await import('croner');
  const normalized = pattern.toLowerCase() === '@midnight' ? '@daily' : pattern;
  return new Cron(normalized, { timezone, paused: true }).nextRun(new Date(after))?.getTime() ?? null;
};

/** Like `computeNextTime`, for a validated pattern and time zone. */
export const computeNextRun = async ({ cron, cron_timezone }: Cron, after: number): Promise<number | null> =>
  await computeNextTime(cron.trim(), resolveTimeZone(cron_timezone) ?? 'UTC', after);

const isValidPattern = async (cron: string, after: number): Promise<boolean> => {
  if (cron.length > maxPatternLength || !patternSyntax.test(cron)) return false;
  try {
    return (await computeNextTime(cron, 'UTC', after)) !== null;
  } catch {
    return false;
  }
};

/** Returns the problems of a pattern and its time zone, by attribute. */
export const findCronProblems = async (
  { cron, cron_timezone }: Cron,
  now: number,
): Promise<{ cron?: string[]; cron_timezone?: string[] }> => ({
  ...(!(await isValidPattern(cron.trim(), now)) && { cron: ['is invalid syntax'] }),
  ...(resolveTimeZone(cron_timezone) === null && { cron_timezone: ['is invalid syntax'] }),
});
