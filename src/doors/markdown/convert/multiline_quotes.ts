import type { StateBlock } from 'markdown-it';

const fence = '>>>';

const isFence = (state: StateBlock, line: number): boolean => {
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  return state.src.slice(start, state.eMarks[line]).trimEnd() === fence;
};

const findEnd = (state: StateBlock, from: number, endLine: number): number => {
  // One text has few quotes; remember that none is closed below, so that many openings take linear time.
  const environment = state.env as { noQuoteEndAfter?: number };
  if (from >= (environment.noQuoteEndAfter ?? Infinity)) return -1;
  for (let line = from; line < endLine; line++) {
    if ((state.sCount[line] ?? 0) < state.blkIndent && !state.isEmpty(line)) return -1;
    if (isFence(state, line)) return line;
  }
  environment.noQuoteEndAfter = from;
  return -1;
};

/** Parses GitLab's quotes of several lines: between two lines `>>>`. A quote without an end is left to CommonMark. */
export const parseMultilineQuote = (
  state: StateBlock,
  startLine: number,
  endLine: number,
  isSilent: boolean,
): boolean => {
  if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4 || !isFence(state, startLine)) return false;
  const end = findEnd(state, startLine + 1, endLine);
  if (end === -1) return false;
  if (isSilent) return true;
  const { parentType, lineMax } = state;
  state.parentType = 'blockquote';
  state.lineMax = end;
  const open = state.push('blockquote_open', 'blockquote', 1);
  open.map = [startLine, end + 1];
  state.md.block.tokenize(state, startLine + 1, end);
  state.push('blockquote_close', 'blockquote', -1);
  state.parentType = parentType;
  state.lineMax = lineMax;
  state.line = end + 1;
  return true;
};
