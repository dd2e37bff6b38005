/**
 * The tree of a configuration file. Each node has its position in a file. Nodes are immutable, so that aliases and
 * `extends` can share them.
 */
import { CiFileError } from './problems.ts';
import type { SourcePosition } from './source_position.ts';

/** Values as Ruby reads them: integers are `bigint`, other numbers `number`. */
export type ScalarValue = null | boolean | bigint | number | string;

export type Scalar = { kind: 'scalar'; value: ScalarValue; size: 1; position: SourcePosition };
export type List = { kind: 'list'; items: readonly Node[]; size: number; position: SourcePosition };
export type Hash = {
  kind: 'hash';
  entries: ReadonlyMap<string, Node>;
  /** Position of each key. */
  keys: ReadonlyMap<string, SourcePosition>;
  size: number;
  position: SourcePosition;
};
/** `!reference [job, script]`, until it is resolved. */
export type Reference = { kind: 'reference'; path: readonly string[]; size: 1; position: SourcePosition };

export type Node = Scalar | List | Hash | Reference;

/** Nodes of one tree, counted once per use, to stop alias bombs. */
export const maxNodes = 200_000;

export const tooLarge = 'The parsed YAML is too big';

const requireSize = (size: number, position: SourcePosition): number => {
  if (size > maxNodes) throw new CiFileError(tooLarge, position);
  return size;
};

export const scalarNode = (value: ScalarValue, position: SourcePosition): Scalar => ({
  kind: 'scalar',
  value,
  size: 1,
  position,
});

export const listNode = (items: readonly Node[], position: SourcePosition): List => {
  let size = 1;
  for (const item of items) size += item.size;
  return { kind: 'list', items, size: requireSize(size, position), position };
};

export const hashNode = (
  entries: ReadonlyMap<string, Node>,
  keys: ReadonlyMap<string, SourcePosition>,
  position: SourcePosition,
): Hash => {
  let size = 1;
  for (const value of entries.values()) size += value.size + 1;
  return { kind: 'hash', entries, keys, size: requireSize(size, position), position };
};

/** Formats numbers as Ruby prints them: `1.0`, `1.0e+20`. */
const formatFloat = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e16)) {
    const text = value.toString();
    return Object.is(value, -0) ? '-0.0' : text.includes('.') ? text : `${text}.0`;
  }
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const sign = exponent.startsWith('-') ? '-' : '+';
  return `${digits.includes('.') ? digits : `${digits}.0`}e${sign}${exponent.slice(1).padStart(2, '0')}`;
};

export const toScalarText = (value: ScalarValue): string => {
  if (value === null) return '';
  return typeof value === 'number' ? formatFloat(value) : String(value);
};

export const isNull = (node: Node | undefined): boolean =>
  node === undefined || (node.kind === 'scalar' && node.value === null);

/** Returns an entry; undefined if it is absent or null. */
export const getEntry = (node: Node | undefined, key: string): Node | undefined => {
  if (node?.kind !== 'hash') return undefined;
  const entry = node.entries.get(key);
  return isNull(entry) ? undefined : entry;
};

export const getKeyPosition = (node: Hash, key: string): SourcePosition =>
  node.keys.get(key) ?? node.position;

export const getString = (node: Node | undefined): string | null =>
  node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : null;

/** Returns a text or number as text, for keywords that accept both. */
export const getScalarText = (node: Node | undefined): string | null =>
  node?.kind === 'scalar' && node.value !== null && typeof node.value !== 'boolean'
    ? toScalarText(node.value)
    : null;

/** Returns the items with nested lists flattened, as `!reference` inserts lists. */
export const flatItems = (node: List): Node[] =>
  node.items.flatMap((item) => (item.kind === 'list' ? flatItems(item) : [item]));

export const getListDepth = (node: Node): number =>
  node.kind === 'list' ? 1 + node.items.reduce((most, item) => Math.max(most, getListDepth(item)), 0) : 0;

/** Converts a node to a JSON value. Integers beyond the safe range become text. */
export const toPlainValue = (node: Node): unknown => {
  switch (node.kind) {
    case 'scalar':
      if (typeof node.value !== 'bigint') return node.value;
      return Number.isSafeInteger(Number(node.value)) ? Number(node.value) : node.value.toString();
    case 'list':
      return node.items.map(toPlainValue);
    case 'hash':
      return Object.fromEntries([...node.entries].map(([key, value]) => [key, toPlainValue(value)]));
    default:
      return [...node.path];
  }
};
