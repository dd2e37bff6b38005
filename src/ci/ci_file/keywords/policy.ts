/** Parses `only` and `except`. */
import { type At, reportFault, checkKeys, stringsAt, parseStrings } from './typed_values.ts';
import { type Node, getEntry, isNull, getString } from '../syntax/node.ts';
import { parsePattern, splitPattern } from '../../../platform/pattern.ts';
import type { Policy } from '../config_types.ts';
import { parseExpressions } from './rules.ts';

export const policyKeys = new Set(['refs', 'kubernetes', 'variables', 'changes']);
const listText = 'config should be an array of strings or regexps';

/** True if a ref is written as a pattern and does not compile. */
const isInvalidPattern = (ref: string): boolean => splitPattern(ref) !== null && parsePattern(ref) === null;

const parseRefs = (at: At, node: Node | undefined, text: string): string[] | null => {
  const refs = parseStrings(at, node, text, listText);
  if (refs?.some(isInvalidPattern) === true) reportFault(at, text, node?.position ?? null, listText);
  return refs;
};

/** @returns null if it is absent */
export const parsePolicy = (at: At, node: Node | undefined): Policy | null => {
  if (node === undefined || isNull(node)) return null;
  const defaults: Policy = { refs: null, variables: null, changes: null, kubernetes: false };
  const single = getString(node);
  if (single !== null) {
    if (isInvalidPattern(single)) reportFault(at, listText, node.position);
    return { ...defaults, refs: [single] };
  }
  if (node.kind === 'list') return { ...defaults, refs: parseRefs(at, node, listText) };
  if (node.kind !== 'hash') {
    reportFault(at, 'has to be either an array of conditions or a hash', node.position);
    return null;
  }
  checkKeys(at, node, policyKeys);
  if (getEntry(node, 'kubernetes') !== undefined) {
    at.problems.warn(`${at.where}:kubernetes never holds: there are no clusters here`, node.position);
  }
  return {
    kubernetes: getEntry(node, 'kubernetes') !== undefined,
    refs: parseRefs(at, getEntry(node, 'refs'), 'refs should be an array of strings or regular expressions'),
    variables: parseExpressions(at, getEntry(node, 'variables')),
    changes: stringsAt(at, node, 'changes'),
  };
};
