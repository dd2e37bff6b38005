import type { Values } from '../expand.ts';
import { type Pattern, patternOf } from '../pattern.ts';
import type { Expression } from './parser.ts';

/** What is left of the steps that patterns may take in one decision, or in all of a pipeline. */
export type Effort = { left: number };

/** Patterns and their texts cost more than any honest configuration. */
export class TooExpensive extends Error {}

type Evaluating = { values: Values; effort: Effort };

type Value = string | boolean | Pattern | null;

/** A variable without a value, and one of blanks alone, are as good as false. */
const isPresent = (value: Value): boolean => {
  if (typeof value === 'string') return value.trim() !== '';
  return value !== null && value !== false;
};

const asPattern = (value: Value): Pattern | null => {
  if (typeof value === 'string') return patternOf(value);
  return value === null || typeof value === 'boolean' ? null : value;
};

/** A variable may hold the pattern; without one, or without a text, nothing matches. */
const matches = (left: Value, right: Value, { effort }: Evaluating): boolean => {
  if (typeof left !== 'string') return false;
  const pattern = asPattern(right);
  if (pattern === null) return false;
  effort.left -= pattern.size * (left.length + 1);
  if (effort.left < 0) throw new TooExpensive();
  return pattern.test(left);
};

const valueOf = (expression: Expression, evaluating: Evaluating): Value => {
  const { values } = evaluating;
  switch (expression.kind) {
    case 'variable':
      return Object.hasOwn(values, expression.name) ? (values[expression.name] ?? null) : null;
    case 'string':
      return expression.text;
    case 'null':
      return null;
    case 'pattern':
      return expression.pattern;
    default:
      return operate(expression, evaluating);
  }
};

type Operation = Extract<Expression, { kind: 'operation' }>;

const operate = ({ operator, left, right }: Operation, values: Evaluating): boolean => {
  const first = valueOf(left, values);
  if (operator === '&&') return isPresent(first) && isPresent(valueOf(right, values));
  if (operator === '||') return isPresent(first) || isPresent(valueOf(right, values));
  const second = valueOf(right, values);
  if (operator === '=~') return matches(first, second, values);
  if (operator === '!~') return !matches(first, second, values);
  return (first === second) === (operator === '==');
};

/** @throws TooExpensive */
export const isTrue = (expression: Expression, values: Values, effort: Effort): boolean =>
  isPresent(valueOf(expression, { values, effort }));
