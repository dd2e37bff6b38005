/** The lines of a file around what a search found. Pure. */
import { lowerAscii } from '../../platform/unicode.ts';

export type Excerpt = {
  data: string;
  /** Number of the first line, from 1. */
  startline: number;
  /** Number of the line that has the text; null: only the path has it. */
  line: number | null;
};

/** Lines before and after the found one. */
const context = 2;
const maxLineLength = 500;

/** Cuts a long line, around the column of what was found. */
const cutLine = (line: string, column: number): string => {
  if (line.length <= maxLineLength) return line;
  const start = Math.max(0, Math.min(column - maxLineLength / 2, line.length - maxLineLength));
  return line.slice(start, start + maxLineLength);
};

/** Returns the first place of a text with the lines around it, or the first lines. */
export const makeExcerpt = (content: string, text: string): Excerpt => {
  const at = lowerAscii(content).indexOf(lowerAscii(text));
  const before = at === -1 ? 0 : content.slice(0, at).split('\n').length - 1;
  const column = at === -1 ? 0 : at - (content.lastIndexOf('\n', at - 1) + 1);
  const first = at === -1 ? 0 : Math.max(0, before - context);
  const lines = content.split('\n').slice(first, before + context + 1);
  const cut = lines.map((line, index) => cutLine(line, first + index === before ? column : 0));
  return { data: `${cut.join('\n')}\n`, startline: first + 1, line: at === -1 ? null : before + 1 };
};
