/** Chooses the rows of a diff that a comment on a line is shown with. Pure. */
import type { DiffRow } from './parse_lines.ts';
import { type LineKey, keysOf } from './row_parts.ts';

/** Rows that are shown: at least, where the hunk has them, and at most. */
const minRows = 4;
const maxRows = 8;
/** Rows above the last one that its highlighting takes into account. */
const maxContext = 40;

export type Excerpt = {
  /** Rows to show; the rows before them are needed only for highlighting. */
  rows: readonly DiffRow[];
  /** Number of rows that are shown, counted from the last. */
  shown: number;
};

export type CommentedLines = {
  line: LineKey;
  /** First line of several, on either side; null if there is only one. */
  first: LineKey | null;
};

/** Returns the rows up to a line, within its hunk; null: the diff lacks the line. */
export const excerptRows = (rows: readonly DiffRow[], { line, first }: CommentedLines): Excerpt | null => {
  const last = rows.findIndex((row) => keysOf(row).includes(line));
  if (last === -1) return null;
  const hunk = rows.findLastIndex(({ kind }, at) => at < last && kind === 'hunk');
  const from = Math.max(hunk + 1, last + 1 - maxContext);
  const lines = rows.slice(from, last + 1).filter(({ kind }) => kind !== 'note');
  const start = first === null ? -1 : lines.findIndex((row) => keysOf(row).includes(first));
  const commented = start === -1 ? 1 : lines.length - start;
  return { rows: lines, shown: Math.min(lines.length, Math.max(minRows, Math.min(commented, maxRows))) };
};
