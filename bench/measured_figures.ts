/** A measured figure, its goal, and whether it meets the goal. */
export type Verdict = 'pass' | 'fail' | 'inconclusive' | 'none';

export type Figure = {
  name: string;
  unit: 'µs' | 'ms' | 'MB' | 'times' | '/s';
  /** The median of the rounds. */
  value: number;
  min: number;
  max: number;
  /** At most. */
  goal: number | null;
  /** A stricter goal that need not be met yet. */
  aim: number | null;
  /** The same without us in the same run: a bare server, git alone, a file. */
  floor: number | null;
  verdict: Verdict;
};

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
};

export const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.min(Math.ceil(ascending.length * share), ascending.length) - 1] ?? NaN;

/**
 * A goal fails only if no round met it and the bare limit did. Noise only makes rounds slower, and a limit that misses
 * the goal shows a slow machine.
 */
const verdictOf = (value: number, min: number, goal: number | null, floor: number | null): Verdict => {
  if (goal === null) return 'none';
  if (value <= goal) return 'pass';
  return min > goal && (floor ?? 0) <= goal ? 'fail' : 'inconclusive';
};

export type Wish = { goal?: number; aim?: number; floor?: number };

export const figure = (
  name: string,
  unit: Figure['unit'],
  rounds: readonly number[],
  { goal, aim, floor }: Wish = {},
): Figure => {
  const [value, min, max] = [median(rounds), Math.min(...rounds), Math.max(...rounds)];
  const verdict = verdictOf(value, min, goal ?? null, floor ?? null);
  return { name, unit, value, min, max, goal: goal ?? null, aim: aim ?? null, floor: floor ?? null, verdict };
};

/** What this share of a round's waits took at most, round by round. */
export const shareFigure = (
  name: string,
  rounds: readonly (readonly number[])[],
  share: number,
  wish: Wish = {},
): Figure => {
  const most = rounds.map((waits) =>
    percentile(
      waits.toSorted((a, b) => a - b),
      share,
    ),
  );
  return figure(`${name}, p${share * 100}`, 'ms', most, wish);
};
