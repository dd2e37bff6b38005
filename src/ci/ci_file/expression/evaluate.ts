import type { Values } from '../syntax/expand_variables.ts';
import { type Pattern, parsePattern } from '../../../platform/pattern.ts';
import type { Expression } from './parser.ts';

/** The remaining steps that patterns may take, in one decision or in a whole pipeline. */
export type StepBudget = { left: number };

/** Evaluation exceeds its step budget. */
export class TooExpensive extends Error {}

type EvaluationContext = { values: Values; effort: StepBudget };

type Value = string | boolean | Pattern | null;

/** Returns whether a value counts as true: a missing or blank variable does not. */
const isPresent = (value: Value): boolean => {
  if (typeof value === 'string') return value.trim() !== '';
  return value !== null && value !== false;
};

const toPattern = (value: Value): Pattern | null => {
  if (typeof value === 'string') return parsePattern(value);
  return value === null || typeof value === 'boolean' ? null : value;
};

/** Matches a text against a pattern, which may come from a variable. Without either, the result is false. */
const matches = (left: Value, right: Value, { effort }: EvaluationContext): boolean => {
  if (typeof left !== 'string') return false;
  const pattern = toPattern(right);
  if (pattern === null) return false;
  effort.left -= pattern.size * (left.length + 1);
  if (effort.left < 0) throw new TooExpensive();
  return pattern.test(left);
};

const evaluate = (expression: Expression, context: EvaluationContext): Value => {
  const { values } = context;
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
      return operate(expression, context);
  }
};

type Operation = Extract<Expression, { kind: 'operation' }>;

const operate = ({ operator, left, right }: Operation, values: EvaluationContext): boolean => {
  const first = evaluate(left, values);
  if (operator === '&&') return isPresent(first) && isPresent(evaluate(right, values));
  if (operator === '||') return isPresent(first) || isPresent(evaluate(right, values));
  const second = evaluate(right, values);
  if (operator === '=~') return matches(first, second, values);
  if (operator === '!~') return !matches(first, second, values);
  return (first === second) === (operator === '==');
};

/** @throws TooExpensive */
export const isTrue = (expression: Expression, values: Values, effort: StepBudget): boolean =>
  isPresent(evaluate(expression, { values, effort }));
