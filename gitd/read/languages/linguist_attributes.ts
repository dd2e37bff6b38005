/** Finds what the `.gitattributes` of folders say of the files whose bytes are counted. Pure. */
import { compilePattern } from './path_pattern.ts';

/** Whether a file is generated, of others, or documentation; null: not set. */
type Values = { [name: string]: boolean | null };

type Rule = { length: number; matches: (path: string) => boolean; values: Values };

/** The rules of a file, for paths relative to its folder. */
export type FolderRules = { folder: string; rules: Rule[] };

/** Rules of one file that count; of more, the last, which come before others. */
const maxRules = 200;
const maxPatternLength = 255;

const names = new Set([
  'linguist-generated',
  'gitlab-generated',
  'linguist-vendored',
  'linguist-documentation',
]);

/** Reads an attribute: `name`, `name=value`, `-name`, or `!name` for one that is not set. */
const readValue = (word: string): Values => {
  const [, sign = '', name = '', value = 'true'] = /^([-!]?)([^=]+)(?:=(.*))?$/.exec(word) ?? [];
  if (!names.has(name)) return {};
  const key = name === 'gitlab-generated' ? 'linguist-generated' : name;
  return { [key]: sign === '!' ? null : sign !== '-' && value !== 'false' };
};

const readRule = (line: string): Rule[] => {
  const [, quoted, plain, rest = ''] = /^(?:"((?:[^"\\]|\\.)*)"|(\S+))\s+(.*)$/.exec(line.trim()) ?? [];
  const pattern = quoted === undefined ? (plain ?? '') : quoted.replaceAll(/\\(["\\])/g, '$1');
  const values: Values = Object.assign({}, ...rest.split(/\s+/).map(readValue));
  // Comments and macros are no patterns, exceptions are forbidden, and folders have no attributes.
  const isPattern = pattern.length <= maxPatternLength && !/^[#![]|\/$/.test(pattern);
  if (!isPattern || pattern === '' || Object.keys(values).length === 0) return [];
  return [{ length: pattern.length, matches: compilePattern(pattern), values }];
};

export const parseRules = (text: string): Rule[] => text.split('\n').flatMap(readRule).slice(-maxRules);

/** Steps that may be used up for all files of a tree. */
export type Budget = { left: number };

/**
 * Tells whether a file is left out; null: nothing is said of it, or the steps are used up.
 * @param files those of folders after those of the folders that contain them
 */
export const findExclusion = (
  files: readonly FolderRules[],
  path: string,
  budget: Budget,
): boolean | null => {
  let values: Values = {};
  for (const { folder, rules } of files) {
    budget.left -= 1;
    if (folder !== '' && !path.startsWith(`${folder}/`)) continue;
    const own = folder === '' ? path : path.slice(folder.length + 1);
    for (const { length, matches, values: set } of rules) {
      // A match takes at most the product of both lengths.
      budget.left -= length * own.length;
      if (budget.left < 0) return null;
      if (matches(own)) values = { ...values, ...set };
    }
  }
  const said = Object.values(values).filter((value) => value !== null);
  return said.length === 0 ? null : said.some(Boolean);
};
