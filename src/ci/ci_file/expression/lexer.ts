/** Splits an expression such as `$CI_COMMIT_BRANCH == "main" && $X =~ /^v/` into tokens. */

export type Operator = '==' | '!=' | '=~' | '!~' | '&&' | '||' | '(' | ')';

export type Token =
  | { kind: 'operator'; text: Operator }
  | { kind: 'variable'; name: string }
  | { kind: 'string'; text: string }
  | { kind: 'pattern'; text: string }
  | { kind: 'null' };

export class ExpressionError extends Error {}

const maxTokens = 100;

const operators: readonly Operator[] = ['==', '!=', '=~', '!~', '&&', '||', '(', ')'];

type ReadToken = { token: Token; length: number };

/** Reads a pattern up to the next unescaped slash, with its flags. */
const readPattern = (text: string, from: number): ReadToken | null => {
  for (let at = from + 1; at < text.length && text[at] !== '\n'; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '/') {
      if (at === from + 1) return null;
      let end = at + 1;
      while ('ismU'.includes(text[end] ?? ' ')) end++;
      return { token: { kind: 'pattern', text: text.slice(from, end) }, length: end - from };
    }
  }
  return null;
};

const readString = (text: string, from: number): ReadToken | null => {
  const end = text.indexOf(text[from] ?? '', from + 1);
  const value = text.slice(from + 1, end);
  return end < 0 || value.includes('\n')
    ? null
    : { token: { kind: 'string', text: value }, length: end + 1 - from };
};

const variable = /\$(?:(\w+)|\{(\w+)\})/y;
const nullWord = /null\b/y;

const readToken = (text: string, at: number): ReadToken | null => {
  const operator = operators.find((one) => text.startsWith(one, at));
  if (operator !== undefined) return { token: { kind: 'operator', text: operator }, length: operator.length };
  if (text[at] === '"' || text[at] === "'") return readString(text, at);
  if (text[at] === '/') return readPattern(text, at);
  variable.lastIndex = at;
  const match = variable.exec(text);
  if (match !== null) {
    return { token: { kind: 'variable', name: match[1] ?? match[2] ?? '' }, length: match[0].length };
  }
  nullWord.lastIndex = at;
  return nullWord.test(text) ? { token: { kind: 'null' }, length: 4 } : null;
};

/** @throws ExpressionError */
export const tokenize = (text: string): Token[] => {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    if (/\s/.test(text[at] ?? '')) {
      at++;
      continue;
    }
    const read = readToken(text, at);
    if (read === null) throw new ExpressionError('Unknown lexeme found!');
    tokens.push(read.token);
    if (tokens.length > maxTokens) throw new ExpressionError('Too many tokens!');
    at += read.length;
  }
  return tokens;
};
