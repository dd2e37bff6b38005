/** Messages between the compiling worker thread and its caller. All values can be cloned. */
import type { Conditions } from './conditions.ts';
import type { FetchProblem, IncludeTarget } from './include/included_files.ts';
import type { ReadOptions } from './compile_and_plan.ts';

/** Number of an origin, which stays with the caller; 0: none. */
export type Handle = number;

export type ReadTask = {
  content: string;
  path: string;
  origin: Handle;
  conditions: Omit<Conditions, 'files' | 'changed'>;
  available: { files: boolean; changed: boolean };
  options: ReadOptions;
};

export type Question =
  | { ask: 'fetch'; target: IncludeTarget; origin: Handle }
  | { ask: 'files' }
  | { ask: 'changed'; compare_to: string | null };

export type Fetched = { files: { name: string; text: string; origin: Handle }[] } | { problem: FetchProblem };
