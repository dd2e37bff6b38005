/** A statement as SQLite runs it. */
type Statement = { text: string; parameters: readonly unknown[] };

const limitAtEnd = /\blimit \?(?<offset>\s+offset \?)?\s*$/;

/**
 * Writes the limit at the end of a statement into its text. SQLite plans a statement again at each run if its limit is a
 * parameter, because the plan depends on it. Few limits are in use, so the prepared statements stay few.
 */
export const inlineLimit = (text: string, parameters: readonly unknown[]): Statement => {
  const match = limitAtEnd.exec(text);
  if (match === null) return { text, parameters };
  const offset = match.groups?.['offset'] ?? '';
  const at = parameters.length - (offset === '' ? 1 : 2);
  const limit = parameters[at];
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit)) return { text, parameters };
  return {
    text: `${text.slice(0, match.index)}limit ${limit}${offset}`,
    parameters: parameters.toSpliced(at, 1),
  };
};
