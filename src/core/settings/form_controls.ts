/** Derives the form control of a setting from its declaration, for the page and the documentation. */
import type { SettingContext } from './value_checks.ts';
import type { Choice, Field } from './field_kinds.ts';

export type Control =
  | { kind: 'flag' }
  | { kind: 'number'; least: number | null; most: number; isWhole: boolean }
  /** Single-line text, multi-line text, or a list with one entry per line. */
  | { kind: 'line' | 'text' | 'list' }
  /** One of a few values, or several of them. */
  | { kind: 'choice' | 'choices'; choices: readonly Choice[] };

type Keywords = { type?: string; minimum?: number; maximum?: number; maxLength?: number };

/** Maximum characters of a single-line text. */
const maxLineLength = 10_000;

export const toControl = (field: Field, around: SettingContext): Control => {
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
  return { kind: maxLength > maxLineLength ? 'text' : 'line' };
};

/** Returns the meaning followed by the meaning of each number, for output that shows no choices. */
export const describeMeaning = (field: Field, around: SettingContext): string => {
  const { type } = field.param as Keywords;
  if (type !== 'integer' || field.choices === undefined) return field.meaning;
  const labels = field.choices(around).map(([value, label]) => `${value}: ${label.toLowerCase()}`);
  return `${field.meaning} ${labels.join('; ')}.`;
};
