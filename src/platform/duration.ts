/**
 * Parses and formats durations (`3h 30m`), stored as whole seconds of working time: a day is 8 hours, a week 5 days,
 * a month 4 weeks, a year 12 months.
 */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 8 * HOUR;
const WEEK = 5 * DAY;
const MONTH = 4 * WEEK;
const YEAR = 12 * MONTH;

const MAX_LENGTH = 64;
const MAX_SECONDS = 2 ** 31 - 1;

/** Greatest first, as they are printed. Years are parsed but never printed. */
const PRINTED: [string, number][] = [
  ['mo', MONTH],
  ['w', WEEK],
  ['d', DAY],
  ['h', HOUR],
  ['m', MINUTE],
  ['s', 1],
];

const SPELLINGS: [number, string][] = [
  [1, 's sec secs second seconds'],
  [MINUTE, 'm min mins minute minutes'],
  [HOUR, 'h hr hrs hour hours'],
  [DAY, 'd dy day days'],
  [WEEK, 'w wk wks week weeks'],
  [MONTH, 'mo mos month months'],
  [YEAR, 'y yr yrs year years'],
];
const UNITS = new Map<string, number>(
  SPELLINGS.flatMap(([seconds, words]) => words.split(' ').map((word): [string, number] => [word, seconds])),
);
const JOINING_WORDS = new Set(['and', 'with', 'plus']);

/** Units of the parts of `1:2:3`, from the right. Weeks are not among them. */
const CLOCK_UNITS = [1, MINUTE, HOUR, DAY, MONTH, YEAR];

/**
 * Parses a duration: numbers each followed by a unit, in any case and with or without blanks, or the clock form
 * `h:m:s`. A last number without a unit is hours; a leading `-` makes it negative.
 * @returns whole seconds within ±(2^31 - 1), rounded down; null for an invalid text, one longer than 64 characters, a
 *   duration too large, or zero
 */
export function parseDuration(text: string): number | null {
  if (text.length > MAX_LENGTH) return null;
  const negative = text.startsWith('-');
  const rest = (negative ? text.slice(1) : text).toLowerCase();
  const total = rest.includes(':') ? clockSeconds(rest) : wordSeconds(rest);
  if (total === null) return null;
  const seconds = Math.floor(total + 1e-6); // 0.29h is 1044 s, not 1043.9999999999998
  if (seconds === 0 || seconds > MAX_SECONDS) return null;
  return negative ? -seconds : seconds;
}

/** Formats seconds as `1mo 2w 3d 4h 5m 6s` without zero parts, with a minus if negative; null for 0. */
export function formatDuration(seconds: number): string | null {
  if (seconds === 0) return null;
  const parts: string[] = [];
  let rest = Math.abs(seconds);
  for (const [unit, size] of PRINTED) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * size;
  }
  return (seconds < 0 ? '-' : '') + parts.join(' ');
}

function clockSeconds(text: string): number | null {
  const parts = text.split(':').toReversed();
  if (parts.length > CLOCK_UNITS.length) return null;
  let total = 0;
  for (const [index, part] of parts.entries()) {
    const number = part.trim();
    if (number === '' || numberEnd(number, 0) !== number.length) return null;
    total += Number(number) * (CLOCK_UNITS[index] ?? 0);
  }
  return total;
}

function wordSeconds(text: string): number | null {
  let total = 0;
  /** Number that waits for its unit; a number followed by another is dropped. */
  let pending: number | null = null;
  let first = true;
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const afterNumber = numberEnd(text, at);
    if (afterNumber > at) {
      pending = Number(text.slice(at, afterNumber));
      at = afterNumber;
      continue;
    }
    const end = wordEnd(text, at);
    const word = text.slice(at, end);
    const unit = UNITS.get(word);
    if (unit === undefined && !JOINING_WORDS.has(word)) return null;
    at = text[end] === ',' ? end + 1 : end;
    if (unit === undefined) continue;
    // A unit without a number counts once if it starts the text, and otherwise not at all.
    total += (pending ?? (first ? 1 : 0)) * unit;
    pending = null;
    first = false;
  }
  return total + (pending ?? 0) * HOUR;
}

/** Returns the end of the number (`12`, `1.5`, `.5`) that starts at `at`; `at` itself if there is none. */
function numberEnd(text: string, at: number): number {
  const whole = digitsEnd(text, at);
  if (text[whole] !== '.') return whole;
  const fraction = digitsEnd(text, whole + 1);
  return fraction > whole + 1 ? fraction : whole;
}

function digitsEnd(text: string, at: number): number {
  let end = at;
  while (isBetween(text, end, '0', '9')) end++;
  return end;
}

function wordEnd(text: string, at: number): number {
  let end = at;
  while (isBetween(text, end, 'a', 'z')) end++;
  return end;
}

function skipBlanks(text: string, at: number): number {
  let end = at;
  while (text[end] === ' ' || isBetween(text, end, '\t', '\r')) end++;
  return end;
}

function isBetween(text: string, at: number, low: string, high: string): boolean {
  const character = text[at];
  return character !== undefined && character >= low && character <= high;
}
