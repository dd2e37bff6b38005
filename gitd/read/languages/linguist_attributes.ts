/** Finds what the `.gitattributes` of folders say of the files whose bytes are counted. Pure. */
import type { Exclusions, Reason } from './excluded_paths.ts';
import { compilePattern } from './path_pattern.ts';

type Rule = { length: number; matches: (path: string) => boolean; values: Exclusions };

/** The rules of the files of folders, for paths relative to the folder. */
export type FolderRules = {
  byFolder: ReadonlyMap<string, readonly Rule[]>;
  /** Lengths of the folders' paths. */
  lengths: ReadonlySet<number>;
};

export const makeFolderRules = (byFolder: ReadonlyMap<string, readonly Rule[]>): FolderRules => ({
  byFolder,
  lengths: new Set([...byFolder.keys()].map(({ length }) => length)),
});

/** Rules used per file. If there are more, the last rules apply, since later rules override earlier rules. */
const maxRules = 200;
const maxPatternLength = 255;

const names = new Map<string, Reason>([
  ['linguist-generated', 'generated'],
  ['gitlab-generated', 'generated'],
  ['linguist-vendored', 'vendored'],
  ['linguist-documentation', 'documentation'],
]);

/** Reads an attribute: `name`, `name=value`, `-name`, or `!name` for one that is not set. */
const readValue = (word: string): Exclusions => {
  const [, sign = '', name = '', value = 'true'] = /^([-!]?)([^=]+)(?:=(.*))?$/.exec(word) ?? [];
  const reason = names.get(name);
  if (reason === undefined) return {};
  return { [reason]: sign === '!' ? null : sign !== '-' && value !== 'false' };
};

const readRule = (line: string): Rule[] => {
  const [, quoted, plain, rest = ''] = /^(?:"((?:[^"\\]|\\.)*)"|(\S+))\s+(.*)$/.exec(line.trim()) ?? [];
  const pattern = quoted === undefined ? (plain ?? '') : quoted.replaceAll(/\\(["\\])/g, '$1');
  const values: Exclusions = Object.assign({}, ...rest.split(/\s+/).map(readValue));
  // Comments and macros are not patterns, git forbids patterns with `!`, and folders have no attributes.
  const isPattern = pattern.length <= maxPatternLength && !/^[#![]|\/$/.test(pattern);
  if (!isPattern || pattern === '' || Object.keys(values).length === 0) return [];
  return [{ length: pattern.length, matches: compilePattern(pattern), values }];
};

export const parseRules = (text: string): Rule[] => text.split('\n').flatMap(readRule).slice(-maxRules);

/** Characters that may be compared for all files of a tree. */
export type Budget = { left: number };

const none: Exclusions = {};

/** Yields the attributes of a file, nearest folder first; yields nothing once the steps are used up. */
export const findExclusions = (
  { byFolder, lengths }: FolderRules,
  path: string,
  budget: Budget,
): Exclusions => {
  let values = none;
  // From the root to the folder of the file: looks up only folders that can have rules.
  for (let end = 0; end !== -1; end = path.indexOf('/', end + 1)) {
    budget.left -= 1;
    if (budget.left < 0) return none;
    if (!lengths.has(end)) continue;
    budget.left -= end;
    const rules = byFolder.get(path.slice(0, end)) ?? [];
    const own = end === 0 ? path : path.slice(end + 1);
    for (const { length, matches, values: set } of rules) {
      // A match takes at most the product of both lengths.
      budget.left -= length * own.length;
      if (budget.left < 0) return none;
      if (matches(own)) values = { ...values, ...set };
    }
  }
  return values;
};
