/** Reads parts of the tree as what they should be, and says what they should be where they are not. */
import { secondsOf } from './duration.ts';
import {
  type Hash,
  type Node,
  type Place,
  depthOf,
  entryOf,
  flatItems,
  isNull,
  keyPlace,
  stringOf,
  wordOf,
} from './node.ts';
import type { Problems } from './problem.ts';

/** Which part is read: `jobs:rspec:artifacts`. */
export type At = { where: string; problems: Problems };

export const inner = ({ where, problems }: At, key: string): At => ({
  where: where === '' ? key : `${where}:${key}`,
  problems,
});

/** `<where> <text>`, in small letters as ever; `old`: what release 10.0 said instead. */
export const fault = ({ where, problems }: At, text: string, place: Place | null, old?: string): void => {
  const said = (one: string): string => `${where} ${one}`.toLowerCase();
  problems.error(said(text), place, said(old ?? text));
};

export const hashOf = (at: At, node: Node | undefined, text = 'config should be a hash'): Hash | null => {
  if (isNull(node) || node === undefined) return null;
  if (node.kind === 'hash') return node;
  fault(at, text, node.place);
  return null;
};

/** Says of a word of the language that it is known, and that nothing comes of it. */
export const notCarriedOut = (at: At, hash: Hash, key: string): void => {
  if (entryOf(hash, key) === undefined) return;
  at.problems.warn(`${at.where} \`${key}\` is accepted, but not carried out`, keyPlace(hash, key));
};

/** Silence would let somebody think that it works. */
export const notSupported = (at: At, hash: Hash, key: string): void => {
  if (entryOf(hash, key) === undefined) return;
  fault(at, `config keyword \`${key}\` is not supported here`, keyPlace(hash, key));
};

export const knowsKeys = (at: At, hash: Hash, known: ReadonlySet<string>): void => {
  const unknown = [...hash.entries.keys()].filter((key) => !known.has(key));
  const [first] = unknown;
  if (first === undefined) return;
  fault(at, `config contains unknown keys: ${unknown.join(', ')}`, keyPlace(hash, first));
};

/** Texts of a list, lists in it spliced; null: there is none, or something else stands there. */
export const stringsOf = (at: At, node: Node | undefined, text: string, old?: string): string[] | null => {
  if (node === undefined || isNull(node)) return null;
  const words = node.kind === 'list' ? flatItems(node).map(stringOf) : null;
  const texts = words?.filter((word) => word !== null);
  if (texts === undefined || texts.length !== words?.length) {
    fault(at, text, node.place, old);
    return null;
  }
  return texts;
};

/** As `stringsOf`, or one text alone. */
export const stringOrStrings = (at: At, node: Node | undefined, text: string): string[] | null => {
  const one = stringOf(node);
  return one === null ? stringsOf(at, node, text) : [one];
};

const deepestScript = 10;
const scriptText = 'config should be a string or a nested array of strings up to 10 levels deep';

export const scriptOf = (at: At, node: Node | undefined, old: string): string[] | null => {
  if (node === undefined || isNull(node)) return null;
  if (depthOf(node) > deepestScript + 1) {
    fault(at, scriptText, node.place, old);
    return null;
  }
  const one = stringOf(node);
  return one === null ? stringsOf(at, node, scriptText, old) : [one];
};

/** One text: a number is none. */
export const textAt = (at: At, hash: Hash, key: string, text = 'should be a string'): string | null => {
  const node = entryOf(hash, key);
  if (node === undefined) return null;
  const given = stringOf(node);
  if (given === null) fault(at, `${humanized(key)} ${text}`, node.place);
  return given;
};

/** `expire_in` in a message is `expire in`. */
const humanized = (key: string): string => key.replaceAll('_', ' ');

export const booleanAt = (at: At, hash: Hash, key: string): boolean | null =>
  booleanOf(at, key, entryOf(hash, key));

export const booleanOf = (at: At, key: string, node: Node | undefined): boolean | null => {
  if (node === undefined) return null;
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value;
  fault(at, `${humanized(key)} should be a boolean value`, node.place);
  return null;
};

/** The words that an entry may have, and what is said where it has another. */
type Words<W extends string> = { words: readonly W[]; text?: string; old?: string };

export const oneOfAt = <const W extends string>(
  at: At,
  hash: Hash,
  key: string,
  { words, text = `should be one of: ${words.join(', ')}`, old }: Words<W>,
): W | null => {
  const node = entryOf(hash, key);
  if (node === undefined) return null;
  const found = words.find((word) => word === stringOf(node));
  if (found !== undefined) return found;
  const said = (one: string): string => `${humanized(key)} ${one}`;
  fault(at, said(text), node.place, said(old ?? text));
  return null;
};

export const isIntegerIn = (node: Node | undefined, low: number, high: number): boolean =>
  node?.kind === 'scalar' && typeof node.value === 'bigint' && node.value >= low && node.value <= high;

/** The text of a span of time. */
export const durationAt = (at: At, hash: Hash, key: string, mostSeconds?: number): string | null =>
  durationOf(at, key, entryOf(hash, key), mostSeconds);

export const durationOf = (
  at: At,
  key: string,
  node: Node | undefined,
  mostSeconds?: number,
): string | null => {
  if (node === undefined) return null;
  const text = wordOf(node);
  const seconds = text === null ? null : secondsOf(text);
  if (text === null || seconds === null) fault(at, `${humanized(key)} should be a duration`, node.place);
  else if (mostSeconds !== undefined && seconds > mostSeconds) {
    fault(at, `${humanized(key)} should not exceed the limit`, node.place);
  }
  return text;
};

export const stringsAt = (at: At, hash: Hash, key: string): string[] | null =>
  stringsOf(at, entryOf(hash, key), `${humanized(key)} should be an array of strings`);
