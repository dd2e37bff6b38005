/** Finds files that a `.gitattributes` says are generated, or whose changes it suppresses. Pure. */
import { compilePathPattern } from '../../../../../ci/ci_file/syntax/fnmatch.ts';

/** `generated` and `suppressed` files are folded; `shown` files are not, even if their names look generated. */
export type Folding = 'generated' | 'suppressed' | 'shown';

type Values = {
  generated?: boolean | null;
  /** false: `-diff`. */
  diff?: boolean | null;
};

type Rule = { length: number; matches: (path: string) => boolean; values: Values };

/** The rules of one file. */
export type Attributes = { rules: readonly Rule[] };

/**
 * A file in a folder. Its patterns are relative to the folder, and it takes precedence over files of parent folders.
 */
export type FolderAttributes = { folder: string; attributes: Attributes };

/** Rules that count; of more, the last, which come before others. */
const maxRules = 200;
const maxPatternLength = 255;

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
  // A folder has no attributes. Comments and macros are not patterns, and exceptions are forbidden.
  if (/^[#![]|\/$/.test(pattern) || pattern.length > maxPatternLength) return null;
  const plain = pattern.replace(/^\//, '').replaceAll(/[{}]/g, String.raw`\$&`);
  // Within a folder, `**` matches everything in it.
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
});

/** Steps that may be used up for the files of one diff. */
export type Budget = { left: number };

const toFolding = ({ generated, diff }: Values): Folding | null => {
  if (diff === false) return 'suppressed';
  if (typeof generated === 'boolean') return generated ? 'generated' : 'shown';
  return diff === true ? 'shown' : null;
};

/** Returns the path within a folder; null if the file is elsewhere. */
const pathWithin = (folder: string, path: string): string | null => {
  if (folder === '') return path;
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null;
};

/**
 * Returns how to show a file; null if no rule matches, or if there are too many files and rules to compare.
 * @param files files of a folder follow files of its parent folders
 */
export const findFolding = (
  files: readonly FolderAttributes[],
  path: string,
  budget: Budget,
): Folding | null => {
  let values: Values = {};
  for (const { folder, attributes } of files) {
    budget.left -= folder.length + 1;
    if (budget.left < 0) return null;
    const own = pathWithin(folder, path);
    if (own === null) continue;
    for (const rule of attributes.rules) {
      // A match takes at most the product of both lengths.
      budget.left -= rule.length * own.length;
      if (budget.left < 0) return null;
      if (rule.matches(own)) values = { ...values, ...rule.values };
    }
  }
  return toFolding(values);
};
