/**
 * Samples long tables. `npm test` runs a part of them that changes with the commit, `npm run test:all` runs all rows.
 * A run prints its seed; `npm test -- --seed NUMBER` repeats the samples.
 */
import { hash } from 'node:crypto';

/** Whether the run includes every row. */
export const isWhole = (process.env['GANTRY_TEST_ALL'] ?? '') !== '';

/** An integer. */
export const seed = Number(process.env['GANTRY_TEST_SEED'] ?? Date.now() % 1_000_000);

/** Returns how often to repeat something: `whole` in `npm run test:all`, `fast` in `npm test`. */
export const times = (whole: number, fast: number): number => (isWhole ? whole : fast);

/** Hashes the seed and text to a number from 0 to 1. */
export const hashToFraction = (seed: number, text: string): number =>
  Number.parseInt(hash('sha256', `${seed} ${text}`).slice(0, 8), 16) / 2 ** 32;

/** Whether something belongs to the sample of this run: one name in `share` does, and all in `npm run test:all`. */
export const isDrawn = (name: string, share: number): boolean =>
  isWhole || hashToFraction(seed, name) < 1 / share;

/**
 * Returns one row in `share` in `npm test`, and all rows in `npm run test:all`. Returns at least one row of each
 * group, such as an endpoint.
 * @param share one row in so many is returned
 * @param nameOf identifies a row
 */
export const sample = <T>(
  rows: readonly T[],
  share: number,
  nameOf: (row: T, index: number) => string,
  groupOf: (row: T) => string = () => '',
): T[] => (isWhole ? [...rows] : oneOfSoMany(rows, share, nameOf, groupOf));

/** Samples in every run: for tables that take an engine too long. */
export const oneOfSoMany = <T>(
  rows: readonly T[],
  share: number,
  nameOf: (row: T, index: number) => string,
  groupOf: (row: T) => string = () => '',
): T[] => {
  const ranked = rows.map((row, at) => ({ row, rank: hashToFraction(seed, nameOf(row, at)) }));
  const lowest = new Map<string, number>();
  for (const { row, rank } of ranked) lowest.set(groupOf(row), Math.min(rank, lowest.get(groupOf(row)) ?? 1));
  return ranked
    .filter(({ row, rank }) => rank < 1 / share || rank === lowest.get(groupOf(row)))
    .map(({ row }) => row);
};
