/** What a thread that reads a configuration is given, and what it asks of who gave it. All of it can be copied. */
import type { Conditions } from './conditions.ts';
import type { FetchProblem, Wanted } from './include_wanted.ts';
import type { Wish } from './read_all.ts';

/** Stands for an origin, which only who gives the task knows; 0: none. */
export type Handle = number;

export type ReadTask = {
  content: string;
  path: string;
  origin: Handle;
  conditions: Omit<Conditions, 'files' | 'changed'>;
  knows: { files: boolean; changed: boolean };
  wish: Wish;
};

export type Question =
  | { ask: 'fetch'; wanted: Wanted; origin: Handle }
  | { ask: 'files' }
  | { ask: 'changed'; compare_to: string | null };

export type Fetched = { files: { name: string; text: string; origin: Handle }[] } | { problem: FetchProblem };
