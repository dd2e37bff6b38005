/** `rules`: of jobs, of the workflow, of includes. */
import {
  type At,
  booleanAt,
  durationAt,
  fault,
  inner,
  knowsKeys,
  oneOfAt,
  stringOrStrings,
  stringsOf,
} from './check.ts';
import { ExpressionError } from './expression/lexer.ts';
import { type Expression, parseExpression } from './expression/parser.ts';
import { type Hash, type Node, entryOf, flatItems, isNull, keyPlace, stringOf } from './node.ts';
import { needsOf } from './needs.ts';
import type { AutoCancel, PathRule, Rule } from './plan_types.ts';
import { variablesOf } from './variables.ts';

const jobKeys = new Set(
  'if changes exists when start_in allow_failure variables needs interruptible'.split(' '),
);
const workflowKeys = new Set('if changes exists when variables auto_cancel'.split(' '));
const includeKeys = new Set('if changes exists when'.split(' '));
const keysOf = { job: jobKeys, workflow: workflowKeys, include: includeKeys };

export type RulesOf = keyof typeof keysOf;

const jobWhens = ['on_success', 'on_failure', 'always', 'never', 'manual', 'delayed'] as const;
const workflowWhens = ['always', 'never'] as const;
const mostPatterns = 50;
const longestWait = 7 * 86_400;

/** By the file that is read: what an alias repeats is not parsed again. */
const parsed = new WeakMap<At['problems'], Map<string, Expression>>();

const parsedOnce = ({ problems }: At, text: string): Expression => {
  const known = parsed.get(problems) ?? new Map<string, Expression>();
  parsed.set(problems, known);
  const expression = known.get(text) ?? parseExpression(text);
  known.set(text, expression);
  return expression;
};

/** @returns null: told */
const expressionAt = (at: At, node: Node): Expression | null => {
  const text = stringOf(node);
  try {
    if (text !== null) return parsedOnce(at, text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    fault(at, `if invalid expression syntax: ${error.message}`, node.place);
    return null;
  }
  fault(at, 'if invalid expression syntax', node.place);
  return null;
};

const patternsOf = (at: At, node: Node | undefined, key: string): string[] | null => {
  const patterns = stringsOf(at, node, `${key} should be an array of strings`);
  if (patterns !== null && patterns.length > mostPatterns) {
    fault(at, `${key} has too many entries (maximum ${mostPatterns})`, node?.place ?? null);
  }
  return patterns;
};

const changesKeys = new Set(['paths', 'compare_to']);
const pathsKeys = new Set(['paths', 'project', 'ref']);

const changesOf = (at: At, node: Node | undefined): PathRule | null => {
  if (node === undefined) return null;
  if (node.kind !== 'hash') {
    const paths = patternsOf(at, node, 'changes');
    return paths === null ? null : { paths, compare_to: null };
  }
  const inside = inner(at, 'changes');
  knowsKeys(inside, node, changesKeys);
  const paths = patternsOf(inside, entryOf(node, 'paths'), 'paths');
  if (paths === null) fault(inside, "paths can't be blank", node.place);
  return { paths: paths ?? [], compare_to: stringOf(entryOf(node, 'compare_to')) };
};

const existsOf = (at: At, node: Node | undefined): string[] | null => {
  if (node?.kind !== 'hash') return patternsOf(at, node, 'exists');
  knowsKeys(inner(at, 'exists'), node, pathsKeys);
  if (node.entries.has('project') || node.entries.has('ref')) {
    at.problems.warn(`${at.where}:exists looks at this project's files only`, node.place);
  }
  return patternsOf(inner(at, 'exists'), entryOf(node, 'paths'), 'paths') ?? [];
};

const autoCancelKeys = new Set(['on_new_commit', 'on_job_failure']);

export const autoCancelOf = (at: At, node: Node | undefined): AutoCancel | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind !== 'hash') {
    fault(at, 'config should be a hash', node.place);
    return null;
  }
  knowsKeys(at, node, autoCancelKeys);
  const [commits, failures] = [['conservative', 'interruptible', 'none'] as const, ['none', 'all'] as const];
  const must = <W extends string>(words: readonly W[]) => ({
    words,
    text: `must be one of: ${words.join(', ')}`,
  });
  return {
    on_new_commit: oneOfAt(at, node, 'on_new_commit', must(commits)),
    on_job_failure: oneOfAt(at, node, 'on_job_failure', must(failures)),
  };
};

const startOf = (at: At, node: Hash, when: Rule['when']): string | null => {
  const start_in = durationAt(at, node, 'start_in', longestWait);
  if (start_in === null && when === 'delayed')
    fault(at, 'start in should be a duration', keyPlace(node, 'when'));
  if (start_in !== null && when !== 'delayed')
    fault(at, 'start in must be blank', keyPlace(node, 'start_in'));
  return start_in;
};

const ruleOf = (at: At, node: Node, of: RulesOf): Rule | null => {
  if (node.kind !== 'hash') {
    fault(at, 'config should be a hash', node.place);
    return null;
  }
  knowsKeys(at, node, keysOf[of]);
  const [condition, needs] = [entryOf(node, 'if'), entryOf(node, 'needs')];
  const when = oneOfAt(at, node, 'when', { words: of === 'job' ? jobWhens : workflowWhens });
  return {
    if: condition === undefined ? null : expressionAt(at, condition),
    changes: changesOf(at, entryOf(node, 'changes')),
    exists: existsOf(at, entryOf(node, 'exists')),
    when,
    allow_failure: booleanAt(at, node, 'allow_failure'),
    variables: variablesOf(inner(at, 'variables'), entryOf(node, 'variables')),
    needs: needs === undefined ? null : needsOf(inner(at, 'needs'), needs, ['job']).needs,
    start_in: of === 'job' ? startOf(at, node, when) : null,
    interruptible: booleanAt(at, node, 'interruptible'),
    auto_cancel: autoCancelOf(inner(at, 'auto_cancel'), entryOf(node, 'auto_cancel')),
  };
};

/** Rules of lists among them (`!reference`) in their place. @returns null: there are none */
export const rulesOf = (at: At, node: Node | undefined, of: RulesOf): Rule[] | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind !== 'list') {
    fault(at, 'config should be an array of hashes', node.place);
    return null;
  }
  const rules = flatItems(node).filter((item) => !isNull(item));
  return rules.map((item) => ruleOf(inner(at, 'rule'), item, of)).filter((rule) => rule !== null);
};

/** `only: variables`: any of some expressions. */
export const expressionsOf = (at: At, node: Node | undefined): Expression[] | null => {
  const texts = stringOrStrings(at, node, 'variables should be an array of strings');
  if (texts === null || node === undefined) return null;
  return texts.flatMap((text) => {
    try {
      return [parsedOnce(at, text)];
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      fault(at, 'variables invalid expression syntax', node.place);
      return [];
    }
  });
};
