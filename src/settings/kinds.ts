/** The kinds of settings: how each is read, answered, made uniform and checked. */
import type { TSchema } from 'typebox';
import type { Visibility } from '../db/schema.ts';
import {
  array,
  bool,
  boolean,
  clearable,
  int,
  integer,
  nullable,
  oneOf,
  string,
  text,
  texts,
} from '../http/schema.ts';
import { type Problem, type Surroundings, checks } from './checks.ts';

/** The headings of the administrators' page, in order. */
export const groups = [
  'Accounts',
  'Visibility',
  'Sign-up',
  'Sign-in',
  'Pages',
  'Repositories',
  'Keys',
  'Tools',
  'Limits',
] as const;

export type Field<T = unknown> = {
  group: (typeof groups)[number];
  label: string;
  /** What it governs, and in which unit. */
  meaning: string;
  default: T;
  /** How the API reads it, and how it answers. */
  param: TSchema;
  shape: TSchema;
  /** What is wrong with a value that is of the right kind. */
  check?: (value: T, around: Surroundings) => Problem;
  /** What a value becomes before it is checked and kept. */
  normalise?: (value: T) => T;
  /** Another name that clients send. */
  alias?: string;
  /** The setting that must be given where this one is turned on. */
  needs?: string;
};

type Described<T> = Pick<Field<T>, 'group' | 'label' | 'meaning' | 'check' | 'alias' | 'needs'>;

const largest = 2_147_483_647;

export const flag = (usual: boolean, described: Described<boolean>): Field<boolean> => ({
  ...described,
  default: usual,
  param: boolean(),
  shape: bool,
});

export const count = (usual: number, described: Described<number>, minimum = -largest): Field<number> => ({
  ...described,
  default: usual,
  param: integer({ minimum, maximum: largest }),
  shape: int,
});

const blankIsNull = (value: string | null): string | null => (value?.trim() ? value.trim() : null);

export const url = (described: Described<string | null>): Field<string | null> => ({
  ...described,
  default: null,
  param: clearable(text({ maxLength: 2048 })),
  shape: nullable(string),
  normalise: blankIsNull,
  check: checks.url,
});

const visibilities = ['private', 'internal', 'public'] as const;

export const visibility = (described: Described<Visibility>): Field<Visibility> => ({
  ...described,
  default: 'private',
  param: oneOf(visibilities),
  shape: string,
});

/** Kept without repetitions; `split`: one text may hold several, with commas, semicolons or blanks between. */
export const list = (
  usual: readonly string[],
  described: Described<readonly string[]>,
  split?: RegExp,
): Field<readonly string[]> => ({
  ...described,
  default: usual,
  param: clearable(texts(split === undefined ? {} : { maxItems: 1_000 })),
  shape: array(string),
  normalise: (values) => {
    const parts = split === undefined ? values : values.flatMap((value) => value.toLowerCase().split(split));
    return [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ''))];
  },
});

export const domains = /[\s,;]+/;

export const keys = (name: string, sizes: readonly number[]): Field<number> =>
  count(0, {
    group: 'Keys',
    label: `${name} SSH keys`,
    meaning: `Fewest bits of an ${name} key, on upload and on use: 0 allows all, -1 none.`,
    check: checks.keySizes(sizes),
  });
