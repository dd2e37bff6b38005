/**
 * Parses and formats durations (`3h 30m`), stored as whole seconds of working time: a day is 8 hours, a week 5 days,
 * a month 4 weeks, a year 12 months.
 */

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;
const daySeconds = 8 * hourSeconds;
const weekSeconds = 5 * daySeconds;
const monthSeconds = 4 * weekSeconds;
const yearSeconds = 12 * monthSeconds;

const maxLength = 64;
const maxSeconds = 2 ** 31 - 1;

/** Greatest first, as they are printed. Years are parsed but never printed. */
const printedUnits: [string, number][] = [
  ['mo', monthSeconds],
  ['w', weekSeconds],
  ['d', daySeconds],
  ['h', hourSeconds],
  ['m', minuteSeconds],
  ['s', 1],
];

const spellings: [number, string][] = [
  [1, 's sec secs second seconds'],
  [minuteSeconds, 'm min mins minute minutes'],
  [hourSeconds, 'h hr hrs hour hours'],
  [daySeconds, 'd dy day days'],
  [weekSeconds, 'w wk wks week weeks'],
  [monthSeconds, 'mo mos month months'],
  [yearSeconds, 'y yr yrs year years'],
];
const secondsByWord = new Map<string, number>(
  spellings.flatMap(([seconds, words]) => words.split(' ').map((word): [string, number] => [word, seconds])),
);
const joiningWords = new Set(['and', 'with', 'plus']);

/** Units of the parts of `1:2:3`, from the right. Weeks are not among them. */
const clockUnits = [1, minuteSeconds, hourSeconds, daySeconds, monthSeconds, yearSeconds];

/**
 * Parses a duration: numbers each followed by a unit, in any case and with or without blanks, or the clock form
 * `h:m:s`. A last number without a unit is hours; a leading `-` makes it negative.
 * @returns whole seconds within ±(2^31 - 1), rounded down; null for an invalid text, one longer than 64 characters, a
 *   duration too large, or zero
 */
export const parseDuration = (text: string): number | null => {
  if (text.length > maxLength) return null;
  const negative = text.startsWith('-');
  const unsigned = (negative ? text.slice(1) : text).toLowerCase();
  const total = unsigned.includes(':') ? parseClock(unsigned) : parseWords(unsigned);
  if (total === null) return null;
  const seconds = Math.floor(total + 1e-6); // 0.29h is 1044 s, not 1043.9999999999998
  if (seconds === 0 || seconds > maxSeconds) return null;
  return negative ? -seconds : seconds;
};

/** Formats seconds as `1mo 2w 3d 4h 5m 6s` without zero parts, with a minus if negative; null for 0. */
export const formatDuration = (seconds: number): string | null => {
  if (seconds === 0) return null;
  const parts: string[] = [];
  let remaining = Math.abs(seconds);
  for (const [unit, size] of printedUnits) {
    const count = Math.floor(remaining / size);
    if (count > 0) parts.push(`${count}${unit}`);
    remaining -= count * size;
  }
  return (seconds < 0 ? '-' : '') + parts.join(' ');
};

const parseClock = (text: string): number | null => {
  const parts = text.split(':').toReversed();
  if (parts.length > clockUnits.length) return null;
  let total = 0;
  for (const [index, part] of parts.entries()) {
    const number = part.trim();
    if (number === '' || findNumberEnd(number, 0) !== number.length) return null;
    total += Number(number) * (clockUnits[index] ?? 0);
  }
  return total;
};

const parseWords = (text: string): number | null => {
  let total = 0;
  /** Number that waits for its unit; a number followed by another is dropped. */
  let pending: number | null = null;
  let first = true;
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const afterNumber = findNumberEnd(text, at);
    if (afterNumber > at) {
      pending = Number(text.slice(at, afterNumber));
      at = afterNumber;
      continue;
    }
    const end = findWordEnd(text, at);
    const word = text.slice(at, end);
    const unit = secondsByWord.get(word);
    if (unit === undefined && !joiningWords.has(word)) return null;
    at = text[end] === ',' ? end + 1 : end;
    if (unit === undefined) continue;
    // A unit without a number counts once if it starts the text, and otherwise not at all.
    total += (pending ?? (first ? 1 : 0)) * unit;
    pending = null;
    first = false;
  }
  return total + (pending ?? 0) * hourSeconds;
};

/** Returns the end of the number (`12`, `1.5`, `.5`) that starts at `at`; `at` itself if there is none. */
const findNumberEnd = (text: string, at: number): number => {
  const whole = findDigitsEnd(text, at);
  if (text[whole] !== '.') return whole;
  const fraction = findDigitsEnd(text, whole + 1);
  return fraction > whole + 1 ? fraction : whole;
};

const findDigitsEnd = (text: string, at: number): number => {
  let end = at;
  while (isBetween(text, end, '0', '9')) end += 1;
  return end;
};

const findWordEnd = (text: string, at: number): number => {
  let end = at;
  while (isBetween(text, end, 'a', 'z')) end += 1;
  return end;
};

const skipBlanks = (text: string, at: number): number => {
  let end = at;
  while (text[end] === ' ' || isBetween(text, end, '\t', '\r')) end += 1;
  return end;
};

const isBetween = (text: string, at: number, low: string, high: string): boolean => {
  const character = text[at];
  return character !== undefined && character >= low && character <= high;
};
