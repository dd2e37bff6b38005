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
import { type Problem, type Surroundings, checks, visibilities } from './checks.ts';

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

/** One of the few values that a setting may have: as it is sent, and as a person is told. */
export type Choice = readonly [value: string, label: string];

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
  /** The only values there are, or of which a list holds some; an empty one is none. */
  choices?: (around: Surroundings) => readonly Choice[];
  /** The least number that `check` lets through. */
  least?: number;
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

/** A number that is at least 1. */
export const positive = (usual: number, described: Described<number>): Field<number> => ({
  ...count(usual, { ...described, check: checks.positive }),
  least: 1,
});

/** One of a few numbers, each of which means something. */
export const levels = (
  usual: number,
  known: readonly (readonly [number, string])[],
  described: Described<number>,
): Field<number> => ({
  ...count(usual, { check: checks.oneOf(known.map(([value]) => value)), ...described }),
  choices: () => known.map(([value, label]) => [String(value), label]),
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

const inWords: Record<Visibility, string> = { private: 'Private', internal: 'Internal', public: 'Public' };

export const visibilityChoices = (): readonly Choice[] => visibilities.map((word) => [word, inWords[word]]);

export const visibility = (described: Described<Visibility>): Field<Visibility> => ({
  ...described,
  default: 'private',
  param: oneOf(visibilities),
  shape: string,
  choices: visibilityChoices,
});

/** Texts each of which may hold several. */
const severalTexts = { ...texts({ maxItems: 1_000 }), items: { type: 'string', maxLength: 300_000 } };

/** Kept without repetitions; `split`: one text may hold several, with commas, semicolons or blanks between. */
export const list = (
  usual: readonly string[],
  described: Described<readonly string[]>,
  split?: RegExp,
): Field<readonly string[]> => ({
  ...described,
  default: usual,
  param: clearable(split === undefined ? texts() : severalTexts),
  shape: array(string),
  ...(split !== undefined && { check: checks.fewAndShort }),
  normalise: (values) => {
    const parts = split === undefined ? values : values.flatMap((value) => value.toLowerCase().split(split));
    return [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ''))];
  },
});

export const domains = /[\s,;]+/;

export const keys = (name: string, sizes: readonly number[]): Field<number> =>
  levels(
    0,
    [
      [0, 'Allowed, of any size'],
      ...sizes.map((size) => [size, `At least ${size} bits`] as const),
      [-1, 'Forbidden'],
    ],
    {
      group: 'Keys',
      label: `${name} SSH keys`,
      meaning: `Which ${name} keys are taken, on upload and on use.`,
      check: checks.keySizes(sizes),
    },
  );
