/**
 * The clock, and text forms of times. A time is whole milliseconds since 1970-01-01T00:00:00Z, a date the text
 * 'YYYY-MM-DD'. Only years 1900 to 9999 (UTC) are accepted, so that every time has a four-digit year and fits both
 * databases.
 */

/** Source of the current time, injected so that tests can control it. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
};

export const minuteMilliseconds = 60_000;
export const hourMilliseconds = 60 * minuteMilliseconds;
export const dayMilliseconds = 24 * hourMilliseconds;

export const monthNames: readonly string[] =
  'January February March April May June July August September October November December'.split(' ');
export const shortMonthNames: readonly string[] = monthNames.map((name) => name.slice(0, 3));

export const systemClock: Clock = { now: () => Date.now() };

/** Milliseconds. The clocks of processes on several hosts differ by less. */
export const maxClockDifference = 60_000;

/**
 * Returns whether a pause lasts. If its end is further ahead than any such pause is long, the clock was set back since
 * it began, and it is over.
 * @param longest milliseconds
 */
export const isWithinPause = (end: number, now: number, longest: number): boolean =>
  end > now && end - now <= longest + maxClockDifference;

/** Milliseconds. A clock is slewed by less than this between two readings that are some seconds apart. */
const minStep = 5_000;

export type ClockStep = {
  /** Milliseconds that the clock was set ahead, or back if negative. */
  by: number;
  /** The earliest time that it can have had since. */
  earliest: number;
};

/**
 * Notices when the clock was set, or the machine slept: it then moves otherwise than the time that passes.
 * Returns a function that takes the time of the clock, and returns its step since the last call; null: there was none.
 */
export const watchClock = (): ((now: number) => ClockStep | null) => {
  let last: { now: number; at: number } | null = null;
  return (now) => {
    const at = performance.now();
    const passed = last === null ? 0 : at - last.at;
    const by = last === null ? 0 : now - last.now - passed;
    last = { now, at };
    return Math.abs(by) < minStep ? null : { by, earliest: Math.floor(now - passed) };
  };
};

const maxLength = 64;
const earliest = Date.UTC(1900, 0, 1);
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const monthWords = shortMonthNames.map((name) => name.toLowerCase());
const zoneHours = new Map<string, number>([
  ['z', 0],
  ['ut', 0],
  ['utc', 0],
  ['gmt', 0],
  ['est', -5],
  ['edt', -4],
  ['cst', -6],
  ['cdt', -5],
  ['mst', -7],
  ['mdt', -6],
  ['pst', -8],
  ['pdt', -7],
]);

// Each part of these patterns starts with a character that cannot end the part before, and the text is short, so they
// never backtrack.
const timePattern = String.raw`(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?`;
const weekdayPattern = '(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}';
const dateOnly = /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)$/;
const iso = new RegExp(
  String.raw`^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?:[t ]${timePattern}(?<zone>[^\d].*)?)?$`,
);
/** Like `iso`, without separators: `20170105T100000Z`. */
const basicIso =
  /^(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)(?:t(?<hour>\d\d)(?<minute>\d\d)(?:(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?(?<zone>[^\d].*)?)?$/;
/** RFC 2822, the HTTP form, and the older `Sunday, 06-Nov-94 08:49:37 GMT`. */
const mailForm = new RegExp(
  String.raw`^(?:${weekdayPattern}, ?)?(?<day>\d{1,2})[ -](?<month>[a-z]{3})[ -](?<year>\d{4}|\d\d)(?: ${timePattern}(?<zone>[^\d].*)?)?$`,
);
/** C's asctime, the third form HTTP allows: `Sun Nov  6 08:49:37 1994`. */
const asctimeForm = new RegExp(
  String.raw`^${weekdayPattern} (?<month>[a-z]{3}) {1,2}(?<day>\d{1,2}) ${timePattern} (?<year>\d{4})$`,
);
const forms = [iso, basicIso, mailForm, asctimeForm];
/** The sign may be a space: an unescaped `+` in a query decodes to one. */
const offsetPattern = /^(?<sign>[ +-])(?<hours>\d\d):?(?<minutes>\d\d)?$/;

/**
 * Returns the new `updated_at` of a row: the current time, or a millisecond after the previous one if the clock went
 * back, so that it always rises.
 */
export const getNextUpdateTime = (row: { updated_at: number }, now: number): number =>
  Math.max(row.updated_at + 1, now);

/** The last formatted time: a new record shows one time several times. */
let formatted = { ms: 0, text: '1970-01-01T00:00:00.000Z' };

/**
 * Formats milliseconds as '2017-01-05T10:00:00.123Z'. Throws RangeError for an invalid time. Times past the last
 * accepted one are formatted as that one, because clients parse four-digit years.
 */
export const formatTime = (ms: number): string => {
  if (ms !== formatted.ms) formatted = { ms, text: new Date(Math.min(ms, latest)).toISOString() };
  return formatted.text;
};

/** Formats a time as `formatTime` does; null if there is none. */
export const formatTimeOrNull = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : formatTime(ms);

/**
 * Parses an ISO 8601 date or date-time, an RFC 2822 date or an HTTP date. Without a zone it is UTC, and a date alone
 * is midnight. Fractions are truncated to milliseconds.
 * @returns milliseconds; null for any other text, an impossible date, or a year outside 1900..9999
 */
export const parseTime = (text: string): number | null => {
  if (text.length > maxLength) return null;
  const trimmed = text.trim().toLowerCase();
  const parts = forms.map((form) => form.exec(trimmed)).find((match) => match !== null)?.groups;
  if (parts === undefined) return null;
  const offset = parseZone(parts['zone'] ?? '');
  const local = toTime(parts);
  if (offset === null || local === null) return null;
  const ms = local - offset;
  return ms >= earliest && ms <= latest ? ms : null;
};

/** Returns the text if it is a calendar date 'YYYY-MM-DD' in the years 1900..9999, else null. */
export const parseDate = (text: string): string | null => {
  const parts = dateOnly.exec(text)?.groups;
  if (parts === undefined) return null;
  const ms = toTime(parts);
  return ms !== null && ms >= earliest ? text : null;
};

/** Like `parseDate`, but also accepts an ISO time, whose zone it ignores: Go clients have no date type. */
export const parseDay = (text: string): string | null => {
  const day = text.slice(0, 10);
  return text === day || (/^[Tt ]/.test(text.slice(10)) && parseTime(text) !== null) ? parseDate(day) : null;
};

/**
 * Parses the date of an HTTP header into milliseconds (whole seconds). Accepts HTTP's three forms and whatever else
 * `parseTime` accepts. Returns null if it is unreadable, because HTTP says to ignore such a header.
 */
export const parseHttpDate = (text: string): number | null => {
  const ms = parseTime(text);
  return ms === null ? null : Math.floor(ms / 1000) * 1000;
};

type TimeParts = Record<string, string | undefined>;

/** Converts the parts as UTC into milliseconds; null for an impossible day or time. */
const toTime = (parts: TimeParts): number | null => {
  const year = expandYear(parts['year'] ?? '');
  const month = parseMonth(parts['month'] ?? '');
  const day = Number(parts['day']);
  const hour = Number(parts['hour'] ?? 0);
  const minute = Number(parts['minute'] ?? 0);
  const second = Number(parts['second'] ?? 0);
  if (month < 1 || month > 12 || day < 1 || day > countDays(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const milliseconds = Number((parts['fraction'] ?? '').slice(0, 3).padEnd(3, '0'));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day); // Date.UTC reads years 0..99 as 1900..1999
  return date.setUTCHours(hour, minute, second, milliseconds);
};

/** Expands two-digit years as RFC 2822 does: 00..49 are 2000..2049, 50..99 are 1950..1999. */
const expandYear = (text: string): number => {
  const year = Number(text);
  if (text.length !== 2) return year;
  return year < 50 ? 2000 + year : 1900 + year;
};

/** Converts '01'..'12' or 'jan'..'dec' to 1..12; 0 for an unknown name. */
const parseMonth = (text: string): number =>
  text.length === 3 ? monthWords.indexOf(text) + 1 : Number(text);

const countDays = (year: number, month: number): number => {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
};

/** Parses '', 'Z', '+01:00', '+0100', '+01', ' 01:00' or a zone name into milliseconds east of UTC; null if invalid. */
const parseZone = (text: string): number | null => {
  const trimmed = text.trim();
  if (trimmed === '') return 0;
  const named = zoneHours.get(trimmed);
  if (named !== undefined) return named * hourMilliseconds;
  const parts = offsetPattern.exec(/^\d/.test(trimmed) ? ` ${trimmed}` : trimmed)?.groups;
  if (parts === undefined) return null;
  const hours = Number(parts['hours']);
  const minutes = Number(parts['minutes'] ?? 0);
  if (hours > 23 || minutes > 59) return null;
  const size = (hours * 60 + minutes) * 60_000;
  return parts['sign'] === '-' ? -size : size;
};
