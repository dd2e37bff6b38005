/**
 * Lists, tasks and quotes of a Markdown field: Enter continues them and ends them on an empty item, Tab and Shift+Tab
 * indent the items of a list. After Escape, Tab leaves the field.
 */
import { indentLines, outdentLines } from './indent_lines.ts';
import { replaceText } from './replace_text.ts';

/** The quote marks, indentation, marker and checkbox before the text of a line. */
const prefixPattern = /^((?:[ \t]|> ?)*)(?:([-+*]|\d{1,9}[.)])([ \t]+)(\[[ xX~]\][ \t]+)?)?/;

const isInCode = (before: string): boolean => (before.match(/^[ \t]*(?:```|~~~)/gm)?.length ?? 0) % 2 === 1;

/** `3.` is followed by `4.`. */
const nextMarker = (marker: string): string =>
  marker.replace(/^\d+/, (digits) => String(Math.min(Number(digits) + 1, 999_999_999)));

/** Continues the list, task or quote at the caret. @returns false if there is none */
export const continueList = (area: HTMLTextAreaElement): boolean => {
  const { value, selectionStart: caret, selectionEnd } = area;
  const start = value.lastIndexOf('\n', caret - 1) + 1;
  const [prefix = '', outer = '', marker, gap = '', box] =
    prefixPattern.exec(value.slice(start).split('\n', 1)[0] ?? '') ?? [];
  const isMarked = marker !== undefined || outer.includes('>');
  if (caret !== selectionEnd || !isMarked || caret < start + prefix.length) return false;
  if (isInCode(value.slice(0, start))) return false;
  const isEmpty =
    value
      .slice(start + prefix.length)
      .split('\n', 1)[0]
      ?.trim() === '';
  if (isEmpty) {
    const rest = marker !== undefined && outer.includes('>') ? outer : '';
    replaceText(area, [start, start + prefix.length], rest);
    return true;
  }
  const next = marker === undefined ? '' : `${nextMarker(marker)}${gap}${box === undefined ? '' : '[ ] '}`;
  replaceText(area, [caret, caret], `\n${outer}${next}`);
  return true;
};

/** Returns the width of the marker above, below which the text of a nested item must start. */
const indentAt = (lines: readonly string[], at: number): number => {
  for (const line of [lines[at - 1], lines[at]]) {
    const [, , marker, gap = ''] = prefixPattern.exec(line ?? '') ?? [];
    if (marker !== undefined) return marker.length + Math.min(gap.length, 4);
  }
  return 2;
};

/** Indents the items of the selected lines. @returns false if there are none, or they are at the edge */
export const indentList = (area: HTMLTextAreaElement, isOut: boolean): boolean => {
  const before = area.value.slice(0, area.selectionStart).split('\n');
  const lines = area.value.split('\n');
  const at = before.length - 1;
  if (!/^[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]/.test(lines[at] ?? '')) return false;
  const unit = ' '.repeat(indentAt(lines, at));
  return isOut ? outdentLines(area, unit) : indentLines(area, unit);
};
