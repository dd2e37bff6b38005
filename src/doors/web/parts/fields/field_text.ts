import type { RawParams } from '../../../../platform/http/params.ts';

/**
 * Converts a stored, parsed or sent value to the text of its field. The last value of a list counts: a ticked checkbox
 * sends its hidden 0 first.
 */
export const fieldText = (value: unknown): string => {
  if (Array.isArray(value)) return fieldText(value.at(-1));
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

/** Returns whether a stored, parsed or sent value ticks its checkbox. */
export const isTicked = (value: unknown): boolean => fieldText(value) === '1';

/** Trims a sent text; null: it is absent or blank. */
export const textOrNull = (value: string | null | undefined): string | null => value?.trim() || null;

/** Returns the chosen values of checkboxes that share a name. */
export const readList = (value: unknown): string[] =>
  [value].flat().filter((one) => typeof one === 'string' && one !== '') as string[];

/** Reads the texts of a form's fields, as they were sent. */
export const readTexts = <N extends string>(sent: RawParams, names: readonly N[]): Record<N, string> =>
  Object.fromEntries(names.map((name) => [name, fieldText(sent[name])])) as Record<N, string>;
