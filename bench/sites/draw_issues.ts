/** Draws the issues of a made-up instance from random numbers, the same for the same number. */
import type { Flag } from '../../src/platform/db/schema/column_types.ts';

/** A stream of numbers in [0, 1) that depends on nothing but its seed (mulberry32). */
export const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** An index below `count`; small ones are far likelier than large ones. */
const skewed = (random: () => number, count: number): number => Math.floor(count * random() ** 3);

const syllables = [
  'ba',
  'ke',
  'li',
  'mo',
  'nu',
  'ra',
  'se',
  'ti',
  'vo',
  'xa',
  'pre',
  'stro',
  'gan',
  'dor',
  'fel',
];

const makeWords = (): string[] => {
  const random = randomOf(7);
  const syllable = (): string => syllables[Math.floor(random() * syllables.length)] ?? '';
  return Array.from({ length: 3000 }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, syllable).join(''),
  );
};

const words = makeWords();
const wordsOf = (random: () => number, count: number): string =>
  Array.from({ length: count }, () => words[Math.floor(random() * words.length)] ?? '').join(' ');

export const counts = { users: 500, labels: 60, milestones: 30, otherProjects: 20 };
export const firstTime = Date.UTC(2018, 0, 1);
const lastTime = Date.UTC(2025, 0, 1);

/** One issue before it has an id. */
export type MadeIssue = {
  title: string;
  description: string;
  state: 'opened' | 'closed';
  author: number;
  assignees: number[];
  labels: number[];
  milestone: number | null;
  confidential: Flag;
  isDeleted: boolean;
  notes: number;
  created_at: number;
  updated_at: number;
};

const distinct = (count: number, pick: () => number): number[] => [
  ...new Set(Array.from({ length: count }, pick)),
];

/** The issue with this number among `total`; people, labels and milestones by their index. */
export const makeIssue = (number: number, total: number): MadeIssue => {
  const random = randomOf(number + 1);
  const created_at = Math.floor(firstTime + ((lastTime - firstTime) * number) / total);
  const roll = random();
  return {
    title: wordsOf(random, 3 + Math.floor(random() * 5)),
    description: wordsOf(random, 40 + Math.floor(random() * 30)),
    state: random() < 0.7 ? 'closed' : 'opened',
    author: skewed(random, counts.users),
    assignees: distinct(roll < 0.3 ? 0 : roll < 0.85 ? 1 : 2, () => skewed(random, counts.users)),
    labels: distinct(Math.floor(random() * 4), () => skewed(random, counts.labels)),
    milestone: random() < 0.6 ? skewed(random, counts.milestones) : null,
    confidential: random() < 0.02 ? 1 : 0,
    isDeleted: random() < 0.01,
    notes: random() < 0.3 ? 1 : 0,
    created_at,
    updated_at: Math.floor(created_at + (lastTime - created_at) * random() ** 4),
  };
};
