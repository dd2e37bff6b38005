/**
 * Spans of real time as configurations write them: `42` (seconds), `3 mins 4 sec`, `2h20min`, `1:30:00`,
 * `47 yrs 6 mos and 4d`. A day has 24 hours here; what people log as work is counted by `src/duration.ts`.
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
const joining = new Set(['and', 'with', 'plus']);
const clockUnits = [1, 60, 3600, 86_400];
const longestText = 100;
const mostSeconds = 2 ** 40;

const clockSeconds = (text: string): number | null => {
  const parts = text.split(':').toReversed();
  if (parts.length > clockUnits.length || !parts.every((part) => /^\d{1,9}$/.test(part))) return null;
  return parts.reduce((sum, part, at) => sum + Number(part) * (clockUnits[at] ?? 0), 0);
};

const wordSeconds = (text: string): number | null => {
  let [total, pending]: [number, number | null] = [0, null];
  for (const [word] of text.matchAll(/\d+(?:\.\d+)?|[a-z]+|[^\s,]/g)) {
    const unit = units.get(word);
    if (/^\d/.test(word)) {
      if (pending !== null) return null;
      pending = Number(word);
    } else if (unit !== undefined && pending !== null) {
      total += pending * unit;
      pending = null;
    } else if (!joining.has(word)) return null;
  }
  return total + (pending ?? 0);
};

/** Whole seconds; null: it is no span of time. */
export const secondsOf = (text: string): number | null => {
  const given = text.trim().toLowerCase();
  if (given === '' || given.length > longestText) return null;
  const seconds = given.includes(':') ? clockSeconds(given) : wordSeconds(given);
  return seconds === null || seconds > mostSeconds ? null : Math.floor(seconds);
};
