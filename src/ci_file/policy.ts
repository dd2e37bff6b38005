/** `only` and `except`. */
import { type At, fault, knowsKeys, stringsAt, stringsOf } from './check.ts';
import { type Node, entryOf, isNull, stringOf } from './node.ts';
import { patternOf, splitPattern } from './pattern.ts';
import type { Policy } from './plan_types.ts';
import { expressionsOf } from './rules.ts';

const policyKeys = new Set(['refs', 'kubernetes', 'variables', 'changes']);
const listText = 'config should be an array of strings or regexps';

/** A ref that is written as a pattern has to be one. */
const isWrongPattern = (ref: string): boolean => splitPattern(ref) !== null && patternOf(ref) === null;

const refsOf = (at: At, node: Node | undefined, text: string): string[] | null => {
  const refs = stringsOf(at, node, text, listText);
  if (refs?.some(isWrongPattern) === true) fault(at, text, node?.place ?? null, listText);
  return refs;
};

/** @returns null: there is none */
export const policyOf = (at: At, node: Node | undefined): Policy | null => {
  if (node === undefined || isNull(node)) return null;
  const none: Policy = { refs: null, variables: null, changes: null, kubernetes: false };
  const alone = stringOf(node);
  if (alone !== null) {
    if (isWrongPattern(alone)) fault(at, listText, node.place);
    return { ...none, refs: [alone] };
  }
  if (node.kind === 'list') return { ...none, refs: refsOf(at, node, listText) };
  if (node.kind !== 'hash') {
    fault(at, 'has to be either an array of conditions or a hash', node.place);
    return null;
  }
  knowsKeys(at, node, policyKeys);
  if (entryOf(node, 'kubernetes') !== undefined) {
    at.problems.warn(`${at.where}:kubernetes never holds: there are no clusters here`, node.place);
  }
  return {
    kubernetes: entryOf(node, 'kubernetes') !== undefined,
    refs: refsOf(at, entryOf(node, 'refs'), 'refs should be an array of strings or regular expressions'),
    variables: expressionsOf(at, entryOf(node, 'variables')),
    changes: stringsAt(at, node, 'changes'),
  };
};
