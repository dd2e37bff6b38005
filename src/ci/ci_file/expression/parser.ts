/** Parses an expression to a tree. Comparisons bind closest, then `&&`, then `||`. */
import { type Pattern, parsePattern } from '../../../platform/pattern.ts';
import { ExpressionError, type Operator, type Token, tokenize } from './lexer.ts';

export type Expression =
  | { kind: 'variable'; name: string }
  | { kind: 'string'; text: string }
  | { kind: 'null' }
  | { kind: 'pattern'; pattern: Pattern }
  | { kind: 'operation'; operator: Operator; left: Expression; right: Expression };

const comparisons = new Set<Operator>(['==', '!=', '=~', '!~']);
const maxExpressionLength = 10_000;

type ParserState = { tokens: Token[]; at: number };

const unknownExpression = (): ExpressionError => new ExpressionError('Unknown pipeline expression!');

const peekOperator = ({ tokens, at }: ParserState): Operator | null => {
  const token = tokens[at];
  return token?.kind === 'operator' ? token.text : null;
};

const parsePatternToken = (text: string): Expression => {
  const pattern = parsePattern(text);
  if (pattern === null) throw new ExpressionError('Invalid regular expression!');
  return { kind: 'pattern', pattern };
};

const parseValue = (state: ParserState): Expression => {
  const token = state.tokens[state.at++];
  if (token === undefined) throw unknownExpression();
  if (token.kind === 'pattern') return parsePatternToken(token.text);
  if (token.kind !== 'operator') return token;
  if (token.text !== '(') throw unknownExpression();
  const inner = parseOr(state);
  if (peekOperator(state) !== ')') throw unknownExpression();
  state.at++;
  return inner;
};

const parseSeries = (
  state: ParserState,
  read: (state: ParserState) => Expression,
  isOperator: (one: Operator) => boolean,
): Expression => {
  let left = read(state);
  for (
    let operator = peekOperator(state);
    operator !== null && isOperator(operator);
    operator = peekOperator(state)
  ) {
    state.at++;
    left = { kind: 'operation', operator, left, right: read(state) };
  }
  return left;
};

const parseComparison = (state: ParserState): Expression =>
  parseSeries(state, parseValue, (one) => comparisons.has(one));
const parseAnd = (state: ParserState): Expression =>
  parseSeries(state, parseComparison, (one) => one === '&&');
const parseOr = (state: ParserState): Expression => parseSeries(state, parseAnd, (one) => one === '||');

/** @throws ExpressionError */
export const parseExpression = (text: string): Expression => {
  if (text.length > maxExpressionLength) throw new ExpressionError('Too many tokens!');
  const state: ParserState = { tokens: tokenize(text), at: 0 };
  const expression = parseOr(state);
  if (state.at < state.tokens.length) throw unknownExpression();
  return expression;
};
