/** Indents the selected lines of a text area. */
import { replaceText } from './replace_text.ts';
import { selectedLines } from './selected_lines.ts';

/** Replaces the selected lines, and keeps the selection on the same characters. */
const changeLines = (area: HTMLTextAreaElement, change: (line: string) => string): boolean => {
  const { selectionStart, selectionEnd } = area;
  const [start, end] = selectedLines(area);
  const lines = area.value.slice(start, end).split('\n');
  const changed = lines.map(change);
  const text = changed.join('\n');
  if (text.length === end - start) return false;
  const first = (changed[0]?.length ?? 0) - (lines[0]?.length ?? 0);
  replaceText(area, [start, end], text);
  const from = Math.max(start, selectionStart + first);
  area.setSelectionRange(from, Math.max(from, selectionEnd + text.length - (end - start)));
  return true;
};

/** @returns whether a line changed */
export const indentLines = (area: HTMLTextAreaElement, unit: string): boolean =>
  changeLines(area, (line) => (line === '' ? line : unit + line));

/** @returns whether a line changed */
export const outdentLines = (area: HTMLTextAreaElement, unit: string): boolean =>
  changeLines(area, (line) => {
    if (line.startsWith('\t')) return line.slice(1);
    return line.slice(Math.min(/^ */.exec(line)?.[0].length ?? 0, unit.length));
  });
