/**
 * What a configuration file is read into: a tree whose every part knows where it stands in which file. Parts are never
 * changed, so that what an alias or `extends` takes over is shared.
 */
import { CiFileError } from './problem.ts';

/** Lines and columns count from 1. */
export type Place = { file: string; line: number; column: number };

/** As Ruby reads it: whole numbers are `bigint`, all others `number`. */
export type ScalarValue = null | boolean | bigint | number | string;

export type Scalar = { kind: 'scalar'; value: ScalarValue; size: 1; place: Place };
export type List = { kind: 'list'; items: readonly Node[]; size: number; place: Place };
export type Hash = {
  kind: 'hash';
  entries: ReadonlyMap<string, Node>;
  /** Where each key stands. */
  keys: ReadonlyMap<string, Place>;
  size: number;
  place: Place;
};
/** `!reference [job, script]`, until it is resolved. */
export type Reference = { kind: 'reference'; path: readonly string[]; size: 1; place: Place };

export type Node = Scalar | List | Hash | Reference;

/** Parts of one tree, each counted as often as it is used: a bomb of aliases stays one reference in memory. */
export const mostNodes = 200_000;

export const tooLarge = 'The parsed YAML is too big';

const bounded = (size: number, place: Place): number => {
  if (size > mostNodes) throw new CiFileError(tooLarge, place);
  return size;
};

export const scalarNode = (value: ScalarValue, place: Place): Scalar => ({
  kind: 'scalar',
  value,
  size: 1,
  place,
});

export const listNode = (items: readonly Node[], place: Place): List => {
  let size = 1;
  for (const item of items) size += item.size;
  return { kind: 'list', items, size: bounded(size, place), place };
};

export const hashNode = (
  entries: ReadonlyMap<string, Node>,
  keys: ReadonlyMap<string, Place>,
  place: Place,
): Hash => {
  let size = 1;
  for (const value of entries.values()) size += value.size + 1;
  return { kind: 'hash', entries, keys, size: bounded(size, place), place };
};

/** Numbers as Ruby prints them: `1.0`, `1.0e+20`. */
const floatText = (value: number): string => {
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

export const textOf = (value: ScalarValue): string => {
  if (value === null) return '';
  return typeof value === 'number' ? floatText(value) : String(value);
};

export const isNull = (node: Node | undefined): boolean =>
  node === undefined || (node.kind === 'scalar' && node.value === null);

/** The entry; undefined: absent, or null. */
export const entryOf = (node: Node | undefined, key: string): Node | undefined => {
  if (node?.kind !== 'hash') return undefined;
  const found = node.entries.get(key);
  return isNull(found) ? undefined : found;
};

export const keyPlace = (node: Hash, key: string): Place => node.keys.get(key) ?? node.place;

export const stringOf = (node: Node | undefined): string | null =>
  node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : null;

/** A text or a number, as text: where the language takes both. */
export const wordOf = (node: Node | undefined): string | null =>
  node?.kind === 'scalar' && node.value !== null && typeof node.value !== 'boolean'
    ? textOf(node.value)
    : null;

/** The items, those of lists among them in their place: what `!reference` puts into a list. */
export const flatItems = (node: List): Node[] =>
  node.items.flatMap((item) => (item.kind === 'list' ? flatItems(item) : [item]));

export const depthOf = (node: Node): number =>
  node.kind === 'list' ? 1 + node.items.reduce((most, item) => Math.max(most, depthOf(item)), 0) : 0;

/** As JSON has it: integers past what a number holds become text. */
export const plainOf = (node: Node): unknown => {
  switch (node.kind) {
    case 'scalar':
      if (typeof node.value !== 'bigint') return node.value;
      return Number.isSafeInteger(Number(node.value)) ? Number(node.value) : node.value.toString();
    case 'list':
      return node.items.map(plainOf);
    case 'hash':
      return Object.fromEntries([...node.entries].map(([key, value]) => [key, plainOf(value)]));
    default:
      return [...node.path];
  }
};
