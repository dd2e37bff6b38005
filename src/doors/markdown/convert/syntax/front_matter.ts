/** Front matter, the data of a document before its text: YAML between `---`, TOML between `+++`, JSON between `;;;`. */
import type { StateBlock } from 'markdown-it';

const languages: Record<string, string> = { '---': 'yaml', '+++': 'toml', ';;;': 'json' };

/** Longer front matter is treated as text. */
const maxLines = 1_000;

/** Tells YAML from a text between two rules. */
const field = /^[\w"'-][\w ."'-]*:(?: |$)/;

const readLine = (state: StateBlock, line: number): string =>
  state.src.slice(state.bMarks[line], state.eMarks[line]).trimEnd();

const findEnd = (state: StateBlock, fence: string, endLine: number): number => {
  const last = Math.min(endLine, maxLines);
  let line = 1;
  while (line < last && readLine(state, line) !== fence) line++;
  return line < last ? line : -1;
};

/** Rule of the parser: shows front matter as a block of code. */
export const parseFrontMatter = (
  state: StateBlock,
  startLine: number,
  endLine: number,
  isSilent: boolean,
): boolean => {
  if (startLine !== 0 || state.level !== 0 || isSilent) return false;
  const fence = readLine(state, 0);
  const language = Object.hasOwn(languages, fence) ? languages[fence] : undefined;
  const end = language === undefined ? -1 : findEnd(state, fence, endLine);
  if (language === undefined || end < 2 || readLine(state, 1) === '') return false;
  const lines = Array.from({ length: end - 1 }, (_line, at) => readLine(state, at + 1));
  if (language === 'yaml' && !lines.some((line) => field.test(line))) return false;
  const token = state.push('fence', 'code', 0);
  token.info = language;
  token.content = `${lines.join('\n')}\n`;
  token.markup = fence;
  token.map = [0, end + 1];
  state.line = end + 1;
  return true;
};
