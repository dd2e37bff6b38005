/** The kinds of settings: parsing, JSON shape, normalization and validation. */
import type { TSchema } from 'typebox';
import type { Visibility } from '../../platform/db/schema/column_types.ts';
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
} from '../../platform/http/schema.ts';
import { type Problem, type SettingContext, checks, visibilities } from './value_checks.ts';

/** Headings of the administrators' page, in order. */
export const groups = [
  'Accounts',
  'Visibility',
  'Sign-up',
  'Sign-in',
  'Pages',
  'Repositories',
  'Keys',
  'Tools',
  'Outgoing requests',
  'Limits',
] as const;

/** One permitted value of a setting: as the API sends it, and as the page shows it. */
export type Choice = readonly [value: string, label: string];

export type Field<T = unknown> = {
  group: (typeof groups)[number];
  label: string;
  /** The effect of the setting, with its unit. */
  meaning: string;
  default: T;
  /** Schemas of the API: the parameter, and the value in answers. */
  param: TSchema;
  shape: TSchema;
  /** Validates a value of the right type. */
  check?: (value: T, around: SettingContext) => Problem;
  /** The permitted values. A list holds some of them; an empty value means none. */
  choices?: (around: SettingContext) => readonly Choice[];
  /** Smallest number that `check` accepts. */
  least?: number;
  /** Normalizes a value before it is checked and stored. */
  normalize?: (value: T) => T;
  /** Another name that clients send. */
  alias?: string;
  /** Setting that must have a value if this one is turned on. */
  needs?: string;
};

/** Declares a setting of another kind than the kinds below, or extends one of them. */
export const setting = <T>(field: Field<T>): Field<T> => field;

type Described<T> = Pick<Field<T>, 'group' | 'label' | 'meaning' | 'check' | 'alias' | 'needs'>;

const maxInteger = 2_147_483_647;

export const flag = (usual: boolean, described: Described<boolean>): Field<boolean> => ({
  ...described,
  default: usual,
  param: boolean(),
  shape: bool,
});

export const count = (usual: number, described: Described<number>, minimum = -maxInteger): Field<number> => ({
  ...described,
  default: usual,
  param: integer({ minimum, maximum: maxInteger }),
  shape: int,
});

/** A number of at least 1. */
export const positive = (usual: number, described: Described<number>): Field<number> => ({
  ...count(usual, { ...described, check: checks.positive }),
  least: 1,
});

/** One of a few numbers with a meaning each. */
export const levels = (
  usual: number,
  options: readonly (readonly [number, string])[],
  described: Described<number>,
): Field<number> => ({
  ...count(usual, { check: checks.oneOf(options.map(([value]) => value)), ...described }),
  choices: () => options.map(([value, label]) => [String(value), label]),
});

const blankIsNull = (value: string | null): string | null => (value?.trim() ? value.trim() : null);

export const url = (described: Described<string | null>): Field<string | null> => ({
  ...described,
  default: null,
  param: clearable(text({ maxLength: 2048 })),
  shape: nullable(string),
  normalize: blankIsNull,
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

/** Array of texts, each of which may contain several entries. */
const severalTexts = { ...texts({ maxItems: 1_000 }), items: { type: 'string', maxLength: 300_000 } };

/**
 * A list without duplicates. With `split`, one text may hold several entries, separated by commas, semicolons or
 * blanks.
 */
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
  normalize: (values) => {
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
      meaning: `Which ${name} keys are accepted, on upload and on use.`,
      check: checks.keySizes(sizes),
    },
  );
