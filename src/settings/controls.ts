/** How a person gives a setting, derived from what its field declares: for the page and the documentation. */
import type { Surroundings } from './checks.ts';
import type { Choice, Field } from './kinds.ts';

export type Control =
  | { kind: 'flag' }
  | { kind: 'number'; least: number | null; most: number; isWhole: boolean }
  /** A text of one line, or of several; a list of texts, one a line. */
  | { kind: 'line' | 'text' | 'list' }
  /** One of a few values, or some of them. */
  | { kind: 'choice' | 'choices'; choices: readonly Choice[] };

type Keywords = { type?: string; minimum?: number; maximum?: number; maxLength?: number };

/** No page's line holds more. */
const longestLine = 10_000;

export const controlOf = (field: Field, around: Surroundings): Control => {
  const { type, minimum = -Infinity, maximum = Infinity, maxLength = 0 } = field.param as Keywords;
  const isList = type === 'array';
  if (field.choices !== undefined) {
    return { kind: isList ? 'choices' : 'choice', choices: field.choices(around) };
  }
  if (isList) return { kind: 'list' };
  if (type === 'boolean') return { kind: 'flag' };
  if (type === 'integer' || type === 'number') {
    const least = field.least ?? minimum;
    return {
      kind: 'number',
      least: Number.isFinite(least) ? least : null,
      most: maximum,
      isWhole: type === 'integer',
    };
  }
  return { kind: maxLength > longestLine ? 'text' : 'line' };
};

/** The meaning with what each number stands for: for those who do not see the choices. */
export const meaningInFull = (field: Field, around: Surroundings): string => {
  const { type } = field.param as Keywords;
  if (type !== 'integer' || field.choices === undefined) return field.meaning;
  const told = field.choices(around).map(([value, label]) => `${value}: ${label.toLowerCase()}`);
  return `${field.meaning} ${told.join('; ')}.`;
};
