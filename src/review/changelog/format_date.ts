import { monthNames, shortMonthNames } from '../../platform/time.ts';
import { changelogFailure } from './template.ts';

const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const padded = (number: number, size = 2, fill = '0'): string => String(number).padStart(size, fill);

const directives: Record<string, (date: Date) => string> = {
  Y: (date) => padded(date.getUTCFullYear(), 4),
  y: (date) => padded(date.getUTCFullYear() % 100),
  m: (date) => padded(date.getUTCMonth() + 1),
  d: (date) => padded(date.getUTCDate()),
  e: (date) => padded(date.getUTCDate(), 2, ' '),
  B: (date) => monthNames[date.getUTCMonth()] ?? '',
  b: (date) => shortMonthNames[date.getUTCMonth()] ?? '',
  A: (date) => days[date.getUTCDay()] ?? '',
  a: (date) => (days[date.getUTCDay()] ?? '').slice(0, 3),
  H: (date) => padded(date.getUTCHours()),
  M: (date) => padded(date.getUTCMinutes()),
  S: (date) => padded(date.getUTCSeconds()),
  F: (date) => date.toISOString().slice(0, 10),
  T: (date) => date.toISOString().slice(11, 19),
  Z: () => 'UTC',
  z: () => '+0000',
  '%': () => '%',
};

/** Formats a time in UTC as `strftime` does. @param format text with directives such as `%Y` @throws Failure 422 */
export const formatDate = (milliseconds: number, format: string): string => {
  const date = new Date(milliseconds);
  return format.replaceAll(/%(.?)/gs, (whole, name: string) => {
    const write = Object.hasOwn(directives, name) ? directives[name] : undefined;
    if (write === undefined) throw changelogFailure(`date_format has an unknown directive: ${whole}`);
    return write(date);
  });
};
