/**
 * Converts a stored, parsed or sent value to the text of its field. The last value of a list counts: a ticked checkbox
 * sends its hidden 0 first.
 */
export const fieldText = (value: unknown): string => {
  if (Array.isArray(value)) return fieldText(value.at(-1));
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};
