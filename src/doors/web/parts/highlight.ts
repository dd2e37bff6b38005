/** Highlighted lines of code. Colors are in `assets/code.css`. */
import type { Call } from '../../../core/access/call.ts';
import { type CodeText, highlightFileLines } from '../../markdown/highlight_lines.ts';
import { type Html, html, trusted } from './html.ts';

/** Splits a text into lines, without their ends; the last line may lack one. */
const splitLines = (text: string): string[] => {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

/**
 * Returns one `Html` for each line of a file (`splitLines`): highlighted by the language of its name, or plain if that
 * is unknown, the file has more than 5,000 lines or 1 MB, or highlighting takes too long.
 */
export const highlightLines = async (
  call: Call,
  code: CodeText,
): Promise<{ lines: Html[]; isHighlighted: boolean }> => {
  const lines = splitLines(code.text);
  const highlighted = await highlightFileLines(call, code, lines);
  return {
    lines: lines.map((line, index) => trusted(highlighted?.[index] ?? html`${line}`.text)),
    isHighlighted: highlighted !== null,
  };
};
