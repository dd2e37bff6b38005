const longest = 60;

const cut = (text: string): string => {
  const marks = Array.from(text.slice(0, 2 * longest + 2));
  return marks.length > longest ? `${marks.slice(0, longest).join('')}…` : text;
};

/** Shortens a value for display. */
export const formatValue = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return 'empty';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'string' || typeof value === 'number') return cut(String(value));
  if (!Array.isArray(value)) return cut(JSON.stringify(value));
  return value.length === 0 ? 'empty' : cut(value.map(formatValue).join(', '));
};
