/** `variables`: `NAME: value` or `NAME: { value, description, options, expand }`. */
import { type At, fault, inner, knowsKeys } from './check.ts';
import { type Hash, type Node, entryOf, isNull, keyPlace, stringOf, textOf } from './node.ts';
import type { Variable } from './plan_types.ts';

const detailKeys = new Set(['value', 'description', 'options', 'expand']);
const mostVariables = 1000;
const shape = 'config should be a hash of key value pairs';

/** Booleans are values, too: `GIT_TEST_LONG: false`. */
const valueText = (node: Node | undefined): string | null =>
  node === undefined ? '' : node.kind === 'scalar' ? textOf(node.value) : null;

const optionsOf = (at: At, node: Node | undefined): string[] | null => {
  if (node === undefined) return null;
  const texts = node.kind === 'list' ? node.items.map(valueText) : [null];
  const options = texts.filter((text) => text !== null);
  if (options.length === texts.length) return options;
  fault(at, 'config options must be an array of strings', node.place);
  return null;
};

const detailedOf = (at: At, key: string, node: Hash): Variable => {
  knowsKeys(at, node, detailKeys);
  const value = valueText(entryOf(node, 'value'));
  if (value === null) fault(at, 'config value must be an alphanumeric string', keyPlace(node, 'value'));
  const expand = entryOf(node, 'expand');
  const isRaw = expand?.kind === 'scalar' && expand.value === false;
  if (expand !== undefined && !(expand.kind === 'scalar' && typeof expand.value === 'boolean')) {
    fault(at, 'config expand should be a boolean value', expand.place);
  }
  const description = stringOf(entryOf(node, 'description'));
  const options = optionsOf(at, entryOf(node, 'options'));
  if (options !== null && value !== null && node.entries.has('value') && !options.includes(value)) {
    fault(at, 'config value must be present in options', keyPlace(node, 'value'));
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

/** `[]` where there are none. */
export const variablesOf = (at: At, node: Node | undefined): Variable[] => {
  if (node === undefined || isNull(node)) return [];
  if (node.kind !== 'hash') {
    fault(at, shape, node.place);
    return [];
  }
  if (node.entries.size > mostVariables) {
    fault(at, `config has too many entries (maximum ${mostVariables})`, node.place);
    return [];
  }
  return [...node.entries].flatMap(([key, value]): Variable[] => {
    if (value.kind === 'hash') return [detailedOf(inner(at, key), key, value)];
    const text = valueText(value);
    if (text === null) fault(at, shape, keyPlace(node, key));
    return text === null ? [] : [{ key, value: text, raw: false }];
  });
};
