/** Finds files that a `.gitattributes` says are generated, or whose changes it suppresses. Pure. */
import { compilePathPattern } from '../../../../../ci/ci_file/syntax/fnmatch.ts';

/** `generated` and `suppressed` files are folded; `shown` ones are not, even if their names look generated. */
export type Folding = 'generated' | 'suppressed' | 'shown';

type Values = {
  generated?: boolean | null;
  /** false: `-diff`. */
  diff?: boolean | null;
};

type Rule = { length: number; matches: (path: string) => boolean; values: Values };

export type Attributes = {
  rules: readonly Rule[];
  /** What was found for paths. */
  found: Map<string, Folding | null>;
};

/** Rules that count; of more, the last, which come before others. */
const maxRules = 200;
const maxPatternLength = 255;
/** Paths that are remembered with their result. */
const maxFound = 2_000;

const names: { [name: string]: keyof Values } = {
  'linguist-generated': 'generated',
  'gitlab-generated': 'generated',
  diff: 'diff',
};

/** Reads an attribute: `name`, `name=value`, `-name`, or `!name` for one that is not set. */
const readValue = (word: string): Values => {
  // The macro of git for `-diff -merge -text`.
  if (word === 'binary') return { diff: false };
  const [, sign = '', name = '', value = 'true'] = /^([-!]?)([^=]+)(?:=(.*))?$/.exec(word) ?? [];
  const field = names[name];
  if (field === undefined) return {};
  return { [field]: sign === '!' ? null : sign !== '-' && value !== 'false' };
};

/** Splits a line into its pattern, which may be quoted, and its attributes. */
const splitLine = (line: string): { pattern: string; words: string[] } | null => {
  const [, quoted, plain, rest = ''] = /^(?:"((?:[^"\\]|\\.)*)"|(\S+))(?:\s+(.*))?$/.exec(line.trim()) ?? [];
  const pattern = quoted === undefined ? plain : quoted.replaceAll(/\\(["\\])/g, '$1');
  return pattern === undefined ? null : { pattern, words: rest.split(/\s+/) };
};

/** Compiles a pattern. One without a slash is about names, others are about paths. */
const compile = (pattern: string): Rule['matches'] | null => {
  // A folder has no attributes. Comments and macros are no patterns, and exceptions are forbidden.
  if (/^[#![]|\/$/.test(pattern) || pattern.length > maxPatternLength) return null;
  const plain = pattern.replace(/^\//, '').replaceAll(/[{}]/g, String.raw`\$&`);
  // Within a folder, `**` stands for all that is in it.
  const matches = compilePathPattern(plain.replace(/(^|\/)\*\*$/, '$1**/*'));
  return pattern.includes('/') ? matches : (path) => matches(path.slice(path.lastIndexOf('/') + 1));
};

const readRule = (line: string): Rule[] => {
  const { pattern, words } = splitLine(line) ?? { pattern: '', words: [] };
  const values: Values = Object.assign({}, ...words.map(readValue));
  if (Object.keys(values).length === 0) return [];
  const matches = compile(pattern);
  return matches === null ? [] : [{ length: pattern.length, matches, values }];
};

export const parseAttributes = (text: string): Attributes => ({
  rules: text.split('\n').flatMap(readRule).slice(-maxRules),
  found: new Map(),
});

/** Steps that may be used up for the files of one diff. */
export type Budget = { left: number };

const toFolding = ({ generated, diff }: Values): Folding | null => {
  if (diff === false) return 'suppressed';
  if (typeof generated === 'boolean') return generated ? 'generated' : 'shown';
  return diff === true ? 'shown' : null;
};

/** Tells how a file is shown; null: nothing is said of it, or there are too many files to compare with too many rules. */
export const findFolding = ({ rules, found }: Attributes, path: string, budget: Budget): Folding | null => {
  const known = found.get(path);
  if (known !== undefined) return known;
  let values: Values = {};
  for (const { length, matches, values: own } of rules) {
    // A match takes at most the product of both lengths.
    budget.left -= length * path.length;
    if (budget.left < 0) return null;
    if (matches(path)) values = { ...values, ...own };
  }
  const folding = toFolding(values);
  if (found.size < maxFound) found.set(path, folding);
  return folding;
};
