/**
 * Finds formulas: within a text between dollar signs and backticks, and in blocks between `$$`. They get an attribute
 * with the nonce of the conversion; `rewrite_html.ts` replaces them where they can be rendered.
 */
import type { StateBlock, StateCore, Token } from 'markdown-it';
import type { Environment } from '../options.ts';

/** Renders TeX; null if it cannot be rendered. */
export type RenderFormula = (tex: string, isDisplay: boolean) => string | null;

/** Finds texts that may contain a formula, which are converted in the worker thread only. */
export const mayHaveFormula = /\$`|\$\$|(?:`{3}|~{3})[^\S\n]*math/i;

/** Returns the value of the attribute `data-math`. */
export const markFormula = ({ nonce }: Environment, style: 'inline' | 'display'): string =>
  `${nonce} ${style}`;

const markIn = (children: readonly Token[], mark: string): void => {
  for (const [at, code] of children.entries()) {
    const [before, after] = [children[at - 1], children[at + 1]];
    if (code.type !== 'code_inline' || before?.type !== 'text' || after?.type !== 'text') continue;
    if (!before.content.endsWith('$') || !after.content.startsWith('$')) continue;
    before.content = before.content.slice(0, -1);
    after.content = after.content.slice(1);
    code.attrSet('class', 'math');
    code.attrSet('data-math', mark);
  }
};

/** Rule of the parser, after the texts of paragraphs are parsed. */
export const markFormulas = ({ tokens, src, env }: StateCore): void => {
  if (!src.includes('$`')) return;
  const mark = markFormula(env as Environment, 'inline');
  for (const { children } of tokens) if (children !== null) markIn(children, mark);
};

const fence = '$$';

const readLine = (state: StateBlock, line: number): string =>
  state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]).trimEnd();

/** Returns the line that ends with `$$`, before the next blank line; -1: there is none. */
const findEnd = (state: StateBlock, from: number, endLine: number): number => {
  // Remember up to where there is none, so that many openings take linear time.
  const environment = state.env as { noFormulaEndsBefore?: number };
  if (from < (environment.noFormulaEndsBefore ?? 0)) return -1;
  let line = from;
  for (; line < endLine && !state.isEmpty(line); line++) {
    if ((state.sCount[line] ?? 0) < state.blkIndent) break;
    if (readLine(state, line).endsWith(fence)) return line;
  }
  environment.noFormulaEndsBefore = line;
  return -1;
};

/** Parses a block between `$$`, in one line or several, as a block of code in the language `math`. */
export const parseFormulaBlock = (
  state: StateBlock,
  startLine: number,
  endLine: number,
  isSilent: boolean,
): boolean => {
  if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const first = readLine(state, startLine);
  if (!first.startsWith(fence)) return false;
  const isOneLine = first.length > 2 * fence.length && first.endsWith(fence);
  const end = isOneLine ? startLine : findEnd(state, startLine + 1, endLine);
  if (end === -1) return false;
  const lines = Array.from({ length: end - startLine + 1 }, (_line, at) => readLine(state, startLine + at));
  const content = lines.join('\n').slice(fence.length, -fence.length).trim();
  if (content === '') return false;
  if (isSilent) return true;
  const token = state.push('fence', 'code', 0);
  token.info = 'math';
  token.content = `${content}\n`;
  token.markup = fence;
  token.map = [startLine, end + 1];
  state.line = end + 1;
  return true;
};
