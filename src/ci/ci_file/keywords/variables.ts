/** Parses `variables`: `NAME: value` or `NAME: { value, description, options, expand }`. */
import { type At, reportFault, inner, checkKeys } from './typed_values.ts';
import {
  type Hash,
  type Node,
  getEntry,
  isNull,
  getKeyPosition,
  getString,
  toScalarText,
} from '../syntax/node.ts';
import type { Variable } from '../config_types.ts';

export const variableKeys = new Set(['value', 'description', 'options', 'expand']);
const maxVariables = 1000;
const shape = 'config should be a hash of key value pairs';

/** Booleans are values, too: `GIT_TEST_LONG: false`. */
const toValueText = (node: Node | undefined): string | null =>
  node === undefined ? '' : node.kind === 'scalar' ? toScalarText(node.value) : null;

const parseOptions = (at: At, node: Node | undefined): string[] | null => {
  if (node === undefined) return null;
  const texts = node.kind === 'list' ? node.items.map(toValueText) : [null];
  const options = texts.filter((text) => text !== null);
  if (options.length === texts.length) return options;
  reportFault(at, 'config options must be an array of strings', node.position);
  return null;
};

const parseDetailedVariable = (at: At, key: string, node: Hash): Variable => {
  checkKeys(at, node, variableKeys);
  const value = toValueText(getEntry(node, 'value'));
  if (value === null)
    reportFault(at, 'config value must be an alphanumeric string', getKeyPosition(node, 'value'));
  const expand = getEntry(node, 'expand');
  const isRaw = expand?.kind === 'scalar' && expand.value === false;
  if (expand !== undefined && !(expand.kind === 'scalar' && typeof expand.value === 'boolean')) {
    reportFault(at, 'config expand should be a boolean value', expand.position);
  }
  const description = getString(getEntry(node, 'description'));
  const options = parseOptions(at, getEntry(node, 'options'));
  if (options !== null && value !== null && node.entries.has('value') && !options.includes(value)) {
    reportFault(at, 'config value must be present in options', getKeyPosition(node, 'value'));
  }
  const first = node.entries.has('value') ? value : (options?.[0] ?? value);
  return {
    key,
    value: first ?? '',
    raw: isRaw,
    ...(description !== null && { description }),
    ...(options !== null && { options }),
  };
};

/** Parses variables; empty if there are none. */
export const parseVariables = (at: At, node: Node | undefined): Variable[] => {
  if (node === undefined || isNull(node)) return [];
  if (node.kind !== 'hash') {
    reportFault(at, shape, node.position);
    return [];
  }
  if (node.entries.size > maxVariables) {
    reportFault(at, `config has too many entries (maximum ${maxVariables})`, node.position);
    return [];
  }
  return [...node.entries].flatMap(([key, value]): Variable[] => {
    if (value.kind === 'hash') return [parseDetailedVariable(inner(at, key), key, value)];
    const text = toValueText(value);
    if (text === null) reportFault(at, shape, getKeyPosition(node, key));
    return text === null ? [] : [{ key, value: text, raw: false }];
  });
};
