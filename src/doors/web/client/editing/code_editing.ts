/** Fields for code: Tab and Shift+Tab indent lines, Enter keeps the indentation. */
import { indentLines, outdentLines } from './indent_lines.ts';
import { replaceText } from './replace_text.ts';

/** Returns how the text is indented: by a tab, or by the fewest spaces of its first indented lines. */
const unitOf = (text: string): string => {
  const indents = text.slice(0, 20_000).match(/^(?:\t| {2,8}(?=\S))/gm) ?? [];
  if (indents[0] === '\t') return '\t';
  const widths = indents.filter((indent) => indent !== '\t').map(({ length }) => length);
  return ' '.repeat(widths.length === 0 ? 2 : Math.min(...widths));
};

/** Inserts a newline with the current line's indentation. @returns false if the line has none */
export const continueCode = (area: HTMLTextAreaElement): boolean => {
  const { value, selectionStart, selectionEnd } = area;
  const start = value.lastIndexOf('\n', selectionStart - 1) + 1;
  const indent = /^[ \t]*/.exec(value.slice(start, selectionStart))?.[0] ?? '';
  if (indent === '') return false;
  replaceText(area, [selectionStart, selectionEnd], `\n${indent}`);
  return true;
};

/** Indents the selected lines; without a selection, Tab fills up to the next stop. */
export const indentCode = (area: HTMLTextAreaElement, isOut: boolean): boolean => {
  const { value, selectionStart, selectionEnd } = area;
  const unit = unitOf(value);
  if (isOut) {
    outdentLines(area, unit);
    return true;
  }
  if (selectionStart !== selectionEnd) return indentLines(area, unit);
  const column = selectionStart - (value.lastIndexOf('\n', selectionStart - 1) + 1);
  const text = unit === '\t' ? unit : ' '.repeat(unit.length - (column % unit.length));
  replaceText(area, [selectionStart, selectionEnd], text);
  return true;
};
