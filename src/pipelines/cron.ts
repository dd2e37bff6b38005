/** When a schedule comes next. The library that knows is loaded with the first schedule. */
import { zoneOf } from './time_zones.ts';

export type Cron = { cron: string; cron_timezone: string };

const longestPattern = 255;
/** Minute, hour, day, month, weekday; or a word for them. */
const form = /^(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|\S+(?:[ \t]+\S+){4})$/i;

/** @returns milliseconds since 1970; null: it never comes again */
const nextAfter = async (pattern: string, timezone: string, after: number): Promise<number | null> => {
  const { Cron } = await import('croner');
  const word = pattern.toLowerCase() === '@midnight' ? '@daily' : pattern;
  return new Cron(word, { timezone, paused: true }).nextRun(new Date(after))?.getTime() ?? null;
};

/** As `nextAfter`, of a pattern and a zone that were checked before. */
export const nextRun = async ({ cron, cron_timezone }: Cron, after: number): Promise<number | null> =>
  await nextAfter(cron.trim(), zoneOf(cron_timezone) ?? 'UTC', after);

const isPattern = async (cron: string, after: number): Promise<boolean> => {
  if (cron.length > longestPattern || !form.test(cron)) return false;
  try {
    return (await nextAfter(cron, 'UTC', after)) !== null;
  } catch {
    return false;
  }
};

/** What is wrong with a pattern and its zone, by attribute. */
export const cronProblems = async (
  { cron, cron_timezone }: Cron,
  now: number,
): Promise<{ cron?: string[]; cron_timezone?: string[] }> => ({
  ...(!(await isPattern(cron.trim(), now)) && { cron: ['is invalid syntax'] }),
  ...(zoneOf(cron_timezone) === null && { cron_timezone: ['is invalid syntax'] }),
});
