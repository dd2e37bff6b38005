/** Formulas within a text, written between dollar signs and backticks, get a class. They stay as they were written. */
import type { StateCore, Token } from 'markdown-it';

const markIn = (children: readonly Token[]): void => {
  for (const [at, code] of children.entries()) {
    const [before, after] = [children[at - 1], children[at + 1]];
    if (code.type !== 'code_inline' || before?.type !== 'text' || after?.type !== 'text') continue;
    if (!before.content.endsWith('$') || !after.content.startsWith('$')) continue;
    before.content = before.content.slice(0, -1);
    after.content = after.content.slice(1);
    code.attrSet('class', 'math');
  }
};

/** Rule of the parser, after the texts of paragraphs are parsed. */
export const markMath = ({ tokens, src }: StateCore): void => {
  if (!src.includes('$`')) return;
  for (const { children } of tokens) if (children !== null) markIn(children);
};
