/** Reads a value of the tree as an expected type, and reports a problem if the type differs. */
import { parseDuration } from './duration.ts';
import {
  type Hash,
  type Node,
  getListDepth,
  getEntry,
  flatItems,
  isNull,
  getKeyPosition,
  getString,
  getScalarText,
} from '../syntax/node.ts';
import type { SourcePosition } from '../syntax/source_position.ts';
import type { Problems } from '../syntax/problems.ts';

/** The part that is read, such as `jobs:rspec:artifacts`. */
export type At = { where: string; problems: Problems };

export const inner = ({ where, problems }: At, key: string): At => ({
  where: where === '' ? key : `${where}:${key}`,
  problems,
});

/** Reports `<where> <text>` in lower case. `old`: the wording of release 10.0. */
export const reportFault = (
  { where, problems }: At,
  text: string,
  position: SourcePosition | null,
  old?: string,
): void => {
  const message = (single: string): string => `${where} ${single}`.toLowerCase();
  problems.error(message(text), position, message(old ?? text));
};

export const parseHash = (at: At, node: Node | undefined, text = 'config should be a hash'): Hash | null => {
  if (isNull(node) || node === undefined) return null;
  if (node.kind === 'hash') return node;
  reportFault(at, text, node.position);
  return null;
};

/** Warns that a keyword is accepted but not implemented. */
export const warnNotImplemented = (at: At, hash: Hash, key: string): void => {
  if (getEntry(hash, key) === undefined) return;
  at.problems.warn(`${at.where} \`${key}\` is accepted, but not carried out`, getKeyPosition(hash, key));
};

/** Reports a keyword that is known but not supported, rather than silently ignoring it. */
export const rejectUnsupported = (at: At, hash: Hash, key: string): void => {
  if (getEntry(hash, key) === undefined) return;
  reportFault(at, `config keyword \`${key}\` is not supported here`, getKeyPosition(hash, key));
};

export const checkKeys = (at: At, hash: Hash, allowed: ReadonlySet<string>): void => {
  const unknown = [...hash.entries.keys()].filter((key) => !allowed.has(key));
  const [first] = unknown;
  if (first === undefined) return;
  reportFault(at, `config contains unknown keys: ${unknown.join(', ')}`, getKeyPosition(hash, first));
};

/** Reads a list of texts, with nested lists flattened. null if it is absent or of another type. */
export const parseStrings = (at: At, node: Node | undefined, text: string, old?: string): string[] | null => {
  if (node === undefined || isNull(node)) return null;
  const words = node.kind === 'list' ? flatItems(node).map(getString) : null;
  const texts = words?.filter((word) => word !== null);
  if (texts === undefined || texts.length !== words?.length) {
    reportFault(at, text, node.position, old);
    return null;
  }
  return texts;
};

/** Like `parseStrings`, but also accepts a single text. */
export const stringOrStrings = (at: At, node: Node | undefined, text: string): string[] | null => {
  const single = getString(node);
  return single === null ? parseStrings(at, node, text) : [single];
};

const maxScriptDepth = 10;
const scriptText = 'config should be a string or a nested array of strings up to 10 levels deep';

export const parseScript = (at: At, node: Node | undefined, old: string): string[] | null => {
  if (node === undefined || isNull(node)) return null;
  if (getListDepth(node) > maxScriptDepth + 1) {
    reportFault(at, scriptText, node.position, old);
    return null;
  }
  const single = getString(node);
  return single === null ? parseStrings(at, node, scriptText, old) : [single];
};

/** Reads a text. A number is an error. */
export const textAt = (at: At, hash: Hash, key: string, text = 'should be a string'): string | null => {
  const node = getEntry(hash, key);
  if (node === undefined) return null;
  const value = getString(node);
  if (value === null) reportFault(at, `${toWords(key)} ${text}`, node.position);
  return value;
};

/** Returns a key as messages show it: `expire_in` becomes `expire in`. */
const toWords = (key: string): string => key.replaceAll('_', ' ');

export const booleanAt = (at: At, hash: Hash, key: string): boolean | null =>
  parseBoolean(at, key, getEntry(hash, key));

export const parseBoolean = (at: At, key: string, node: Node | undefined): boolean | null => {
  if (node === undefined) return null;
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value;
  reportFault(at, `${toWords(key)} should be a boolean value`, node.position);
  return null;
};

/** The words that an entry may have, and the text of the error for other words. */
type AllowedWords<W extends string> = { words: readonly W[]; text?: string; old?: string };

export const oneOfAt = <const W extends string>(
  at: At,
  hash: Hash,
  key: string,
  { words, text = `should be one of: ${words.join(', ')}`, old }: AllowedWords<W>,
): W | null => {
  const node = getEntry(hash, key);
  if (node === undefined) return null;
  const word = words.find((word) => word === getString(node));
  if (word !== undefined) return word;
  const message = (single: string): string => `${toWords(key)} ${single}`;
  reportFault(at, message(text), node.position, message(old ?? text));
  return null;
};

export const isIntegerIn = (node: Node | undefined, low: number, high: number): boolean =>
  node?.kind === 'scalar' && typeof node.value === 'bigint' && node.value >= low && node.value <= high;

/** Reads the text of a duration. */
export const durationAt = (at: At, hash: Hash, key: string, maxSeconds?: number): string | null =>
  parseDurationText(at, key, getEntry(hash, key), maxSeconds);

export const parseDurationText = (
  at: At,
  key: string,
  node: Node | undefined,
  maxSeconds?: number,
): string | null => {
  if (node === undefined) return null;
  const text = getScalarText(node);
  const seconds = text === null ? null : parseDuration(text);
  if (text === null || seconds === null)
    reportFault(at, `${toWords(key)} should be a duration`, node.position);
  else if (maxSeconds !== undefined && seconds > maxSeconds) {
    reportFault(at, `${toWords(key)} should not exceed the limit`, node.position);
  }
  return text;
};

export const stringsAt = (at: At, hash: Hash, key: string): string[] | null =>
  parseStrings(at, getEntry(hash, key), `${toWords(key)} should be an array of strings`);

/** Reads the `exit_codes` of `retry` or `allow_failure`. */
export const parseExitCodes = (at: At, node: Node | undefined): number[] => {
  if (node === undefined || isNull(node)) return [];
  const items = node.kind === 'list' ? node.items : [node];
  if (!items.every((item) => isIntegerIn(item, 0, 255))) {
    reportFault(at, 'exit codes should be an array of integers or an integer', node.position);
    return [];
  }
  return items.map((item) => (item.kind === 'scalar' ? Number(item.value) : 0));
};
