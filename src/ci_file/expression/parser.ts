/** An expression's text -> its tree. `==` and its like bind closest, then `&&`, then `||`. */
import { type Pattern, patternOf } from '../pattern.ts';
import { ExpressionError, type Operator, type Token, tokensOf } from './lexer.ts';

export type Expression =
  | { kind: 'variable'; name: string }
  | { kind: 'string'; text: string }
  | { kind: 'null' }
  | { kind: 'pattern'; pattern: Pattern }
  | { kind: 'operation'; operator: Operator; left: Expression; right: Expression };

const comparisons = new Set<Operator>(['==', '!=', '=~', '!~']);
const longestExpression = 10_000;

type Rest = { tokens: Token[]; at: number };

const unknown = (): ExpressionError => new ExpressionError('Unknown pipeline expression!');

const operatorAt = ({ tokens, at }: Rest): Operator | null => {
  const token = tokens[at];
  return token?.kind === 'operator' ? token.text : null;
};

const patternAt = (text: string): Expression => {
  const pattern = patternOf(text);
  if (pattern === null) throw new ExpressionError('Invalid regular expression!');
  return { kind: 'pattern', pattern };
};

const readValue = (rest: Rest): Expression => {
  const token = rest.tokens[rest.at++];
  if (token === undefined) throw unknown();
  if (token.kind === 'pattern') return patternAt(token.text);
  if (token.kind !== 'operator') return token;
  if (token.text !== '(') throw unknown();
  const inner = readOr(rest);
  if (operatorAt(rest) !== ')') throw unknown();
  rest.at++;
  return inner;
};

const readSeries = (
  rest: Rest,
  read: (rest: Rest) => Expression,
  isOwn: (one: Operator) => boolean,
): Expression => {
  let left = read(rest);
  for (let operator = operatorAt(rest); operator !== null && isOwn(operator); operator = operatorAt(rest)) {
    rest.at++;
    left = { kind: 'operation', operator, left, right: read(rest) };
  }
  return left;
};

const readComparison = (rest: Rest): Expression => readSeries(rest, readValue, (one) => comparisons.has(one));
const readAnd = (rest: Rest): Expression => readSeries(rest, readComparison, (one) => one === '&&');
const readOr = (rest: Rest): Expression => readSeries(rest, readAnd, (one) => one === '||');

/** @throws ExpressionError */
export const parseExpression = (text: string): Expression => {
  if (text.length > longestExpression) throw new ExpressionError('Too many tokens!');
  const rest: Rest = { tokens: tokensOf(text), at: 0 };
  const expression = readOr(rest);
  if (rest.at < rest.tokens.length) throw unknown();
  return expression;
};
