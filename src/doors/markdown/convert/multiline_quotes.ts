import type { StateBlock } from 'markdown-it';
import { readAlert } from './syntax/alerts.ts';

const fence = '>>>';

const readLine = (state: StateBlock, line: number): string =>
  state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]).trimEnd();

const isFence = (state: StateBlock, line: number): boolean => readLine(state, line) === fence;

/** Returns the text after the opening `>>>`, which may be the marker of an alert; null if the line opens no quote. */
const readOpening = (state: StateBlock, line: number): string | null => {
  const text = readLine(state, line);
  if (!text.startsWith(fence)) return null;
  const rest = text.slice(fence.length).trimStart();
  return rest === '' || readAlert(rest) !== null ? rest : null;
};

const findEnd = (state: StateBlock, from: number, endLine: number): number => {
  // Remember for each last line that no quote is closed below, so that many openings take linear time.
  const environment = state.env as { noQuoteEnds?: Map<number, number> };
  const noQuoteEnds = (environment.noQuoteEnds ??= new Map());
  if (from >= (noQuoteEnds.get(endLine) ?? Infinity)) return -1;
  for (let line = from; line < endLine; line++) {
    if ((state.sCount[line] ?? 0) < state.blkIndent && !state.isEmpty(line)) return -1;
    if (isFence(state, line)) return line;
  }
  noQuoteEnds.set(endLine, from);
  return -1;
};

/** Parses GitLab's quotes of several lines: between two lines `>>>`. A quote without an end is left to CommonMark. */
export const parseMultilineQuote = (
  state: StateBlock,
  startLine: number,
  endLine: number,
  isSilent: boolean,
): boolean => {
  if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const opening = readOpening(state, startLine);
  if (opening === null) return false;
  const end = findEnd(state, startLine + 1, endLine);
  if (end === -1) return false;
  if (isSilent) return true;
  const { parentType, lineMax } = state;
  state.parentType = 'blockquote';
  state.lineMax = end;
  const open = state.push('blockquote_open', 'blockquote', 1);
  open.map = [startLine, end + 1];
  open.info = opening;
  state.md.block.tokenize(state, startLine + 1, end);
  state.push('blockquote_close', 'blockquote', -1);
  state.parentType = parentType;
  state.lineMax = lineMax;
  state.line = end + 1;
  return true;
};
