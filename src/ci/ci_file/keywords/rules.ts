/** Parses `rules` of jobs, workflow and includes. */
import {
  type At,
  booleanAt,
  durationAt,
  reportFault,
  inner,
  checkKeys,
  oneOfAt,
  stringOrStrings,
  parseStrings,
} from './typed_values.ts';
import { ExpressionError } from '../expression/lexer.ts';
import { type Expression, parseExpression } from '../expression/parser.ts';
import {
  type Hash,
  type Node,
  getEntry,
  flatItems,
  isNull,
  getKeyPosition,
  getString,
} from '../syntax/node.ts';
import { parseNeeds } from './needs.ts';
import type { AutoCancel, PathRule, Rule } from '../config_types.ts';
import { parseVariables } from './variables.ts';

const jobKeys = new Set(
  'if changes exists when start_in allow_failure variables needs interruptible'.split(' '),
);
const workflowKeys = new Set('if changes exists when variables auto_cancel'.split(' '));
const includeKeys = new Set('if changes exists when'.split(' '));
export const ruleKeys = { job: jobKeys, workflow: workflowKeys, include: includeKeys };

export type RuleOwner = keyof typeof ruleKeys;

const jobWhens = ['on_success', 'on_failure', 'always', 'never', 'manual', 'delayed'] as const;
const workflowWhens = ['always', 'never'] as const;
const maxPatterns = 50;
const maxDelay = 7 * 86_400;

/** Parsed expressions of one compilation, so that repeated expressions are parsed once. */
const expressionCache = new WeakMap<At['problems'], Map<string, Expression>>();

const parseCached = ({ problems }: At, text: string): Expression => {
  const cache = expressionCache.get(problems) ?? new Map<string, Expression>();
  expressionCache.set(problems, cache);
  const expression = cache.get(text) ?? parseExpression(text);
  cache.set(text, expression);
  return expression;
};

/** @returns null if an error was reported */
const parseCondition = (at: At, node: Node): Expression | null => {
  const text = getString(node);
  try {
    if (text !== null) return parseCached(at, text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    reportFault(at, `if invalid expression syntax: ${error.message}`, node.position);
    return null;
  }
  reportFault(at, 'if invalid expression syntax', node.position);
  return null;
};

const parsePatterns = (at: At, node: Node | undefined, key: string): string[] | null => {
  const patterns = parseStrings(at, node, `${key} should be an array of strings`);
  if (patterns !== null && patterns.length > maxPatterns) {
    reportFault(at, `${key} has too many entries (maximum ${maxPatterns})`, node?.position ?? null);
  }
  return patterns;
};

const changesKeys = new Set(['paths', 'compare_to']);
const pathsKeys = new Set(['paths', 'project', 'ref']);

const parseChanges = (at: At, node: Node | undefined): PathRule | null => {
  if (node === undefined) return null;
  if (node.kind !== 'hash') {
    const paths = parsePatterns(at, node, 'changes');
    return paths === null ? null : { paths, compare_to: null };
  }
  const inside = inner(at, 'changes');
  checkKeys(inside, node, changesKeys);
  const paths = parsePatterns(inside, getEntry(node, 'paths'), 'paths');
  if (paths === null) reportFault(inside, "paths can't be blank", node.position);
  return { paths: paths ?? [], compare_to: getString(getEntry(node, 'compare_to')) };
};

const parseExists = (at: At, node: Node | undefined): string[] | null => {
  if (node?.kind !== 'hash') return parsePatterns(at, node, 'exists');
  checkKeys(inner(at, 'exists'), node, pathsKeys);
  if (node.entries.has('project') || node.entries.has('ref')) {
    at.problems.warn(`${at.where}:exists looks at this project's files only`, node.position);
  }
  return parsePatterns(inner(at, 'exists'), getEntry(node, 'paths'), 'paths') ?? [];
};

const autoCancelKeys = new Set(['on_new_commit', 'on_job_failure']);

export const parseAutoCancel = (at: At, node: Node | undefined): AutoCancel | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind !== 'hash') {
    reportFault(at, 'config should be a hash', node.position);
    return null;
  }
  checkKeys(at, node, autoCancelKeys);
  const [commits, failures] = [['conservative', 'interruptible', 'none'] as const, ['none', 'all'] as const];
  const oneOfText = <W extends string>(words: readonly W[]) => ({
    words,
    text: `must be one of: ${words.join(', ')}`,
  });
  return {
    on_new_commit: oneOfAt(at, node, 'on_new_commit', oneOfText(commits)),
    on_job_failure: oneOfAt(at, node, 'on_job_failure', oneOfText(failures)),
  };
};

const parseStartIn = (at: At, node: Hash, when: Rule['when']): string | null => {
  const start_in = durationAt(at, node, 'start_in', maxDelay);
  if (start_in === null && when === 'delayed')
    reportFault(at, 'start in should be a duration', getKeyPosition(node, 'when'));
  if (start_in !== null && when !== 'delayed')
    reportFault(at, 'start in must be blank', getKeyPosition(node, 'start_in'));
  return start_in;
};

const parseRule = (at: At, node: Node, owner: RuleOwner): Rule | null => {
  if (node.kind !== 'hash') {
    reportFault(at, 'config should be a hash', node.position);
    return null;
  }
  checkKeys(at, node, ruleKeys[owner]);
  const [condition, needs] = [getEntry(node, 'if'), getEntry(node, 'needs')];
  const when = oneOfAt(at, node, 'when', { words: owner === 'job' ? jobWhens : workflowWhens });
  return {
    if: condition === undefined ? null : parseCondition(at, condition),
    changes: parseChanges(at, getEntry(node, 'changes')),
    exists: parseExists(at, getEntry(node, 'exists')),
    when,
    allow_failure: booleanAt(at, node, 'allow_failure'),
    variables: parseVariables(inner(at, 'variables'), getEntry(node, 'variables')),
    needs: needs === undefined ? null : parseNeeds(inner(at, 'needs'), needs, ['job']).needs,
    start_in: owner === 'job' ? parseStartIn(at, node, when) : null,
    interruptible: booleanAt(at, node, 'interruptible'),
    auto_cancel: parseAutoCancel(inner(at, 'auto_cancel'), getEntry(node, 'auto_cancel')),
  };
};

/** Parses rules, with nested lists (`!reference`) flattened. null if absent. */
export const parseRules = (at: At, node: Node | undefined, owner: RuleOwner): Rule[] | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind !== 'list') {
    reportFault(at, 'config should be an array of hashes', node.position);
    return null;
  }
  const rules = flatItems(node).filter((item) => !isNull(item));
  return rules.map((item) => parseRule(inner(at, 'rule'), item, owner)).filter((rule) => rule !== null);
};

/** Parses the expressions of `only: variables`. */
export const parseExpressions = (at: At, node: Node | undefined): Expression[] | null => {
  const texts = stringOrStrings(at, node, 'variables should be an array of strings');
  if (texts === null || node === undefined) return null;
  return texts.flatMap((text) => {
    try {
      return [parseCached(at, text)];
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      reportFault(at, 'variables invalid expression syntax', node.position);
      return [];
    }
  });
};
