/**
 * Parses durations of configurations: `42` (seconds), `3 mins 4 sec`, `2h20min`, `1:30:00`, `47 yrs 6 mos and 4d`. A day
 * has 24 hours here; `src/platform/duration.ts` parses working time.
 */

const unitSeconds: [number, string][] = [
  [1, 's sec secs second seconds'],
  [60, 'm min mins minute minutes'],
  [3600, 'h hr hrs hour hours'],
  [86_400, 'd dy day days'],
  [604_800, 'w wk wks week weeks'],
  [2_592_000, 'mo mos mon month months'],
  [31_557_600, 'y yr yrs year years'],
];
const units = new Map(
  unitSeconds.flatMap(([seconds, words]) =>
    words.split(' ').map((word): [string, number] => [word, seconds]),
  ),
);
const conjunctions = new Set(['and', 'with', 'plus']);
const clockUnits = [1, 60, 3600, 86_400];
const maxLength = 100;
const maxSeconds = 2 ** 40;

const parseClock = (text: string): number | null => {
  const parts = text.split(':').toReversed();
  if (parts.length > clockUnits.length || !parts.every((part) => /^\d{1,9}$/.test(part))) return null;
  return parts.reduce((sum, part, at) => sum + Number(part) * (clockUnits[at] ?? 0), 0);
};

const parseWords = (text: string): number | null => {
  let [total, pending]: [number, number | null] = [0, null];
  for (const [word] of text.matchAll(/\d+(?:\.\d+)?|[a-z]+|[^\s,]/g)) {
    const unit = units.get(word);
    if (/^\d/.test(word)) {
      if (pending !== null) return null;
      pending = Number(word);
    } else if (unit !== undefined && pending !== null) {
      total += pending * unit;
      pending = null;
    } else if (!conjunctions.has(word)) return null;
  }
  return total + (pending ?? 0);
};

/** Returns whole seconds; null if the text is not a duration. */
export const parseDuration = (text: string): number | null => {
  const normalized = text.trim().toLowerCase();
  if (normalized === '' || normalized.length > maxLength) return null;
  const seconds = normalized.includes(':') ? parseClock(normalized) : parseWords(normalized);
  return seconds === null || seconds > maxSeconds ? null : Math.floor(seconds);
};
