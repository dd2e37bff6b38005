/**
 * Arguments of git, each made for its slot: what a user chose never stands where git could take it for an option
 * or for an expression of its own.
 */
import { GitError } from '../failure.ts';
import { isFullRef } from '../refs/names.ts';

declare const slot: unique symbol;
/** Fit to stand on git's command line. */
export type Argument = string & { readonly [slot]: true };

/** A text that stands in our code: `flag('--count')`, `flag('write')`. Not for anything that was computed. */
export const flag = <T extends string>(text: string extends T ? never : T): Argument =>
  text as string as Argument;

/** `--max-count=20`. */
export const count = (name: `--${string}=`, value: number): Argument => {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new GitError('invalid', `${name} takes a whole number`);
  return `${name}${value}` as Argument;
};

const oidPattern = /^[0-9a-f]{40}$/;

export const isOid = (text: unknown): text is string => typeof text === 'string' && oidPattern.test(text);

/** @throws GitError `invalid` for what is no full object id */
export const oid = (text: unknown): Argument => {
  if (!isOid(text)) throw new GitError('invalid', 'not an object id');
  return text as Argument;
};

/** `A..B`, `^A` and other expressions of ids. */
export const without = (text: string): Argument => `^${oid(text)}` as Argument;

/** `A...B`: what only one of both histories has. */
export const symmetric = (left: string, right: string): Argument =>
  `${oid(left)}...${oid(right)}` as Argument;

/** `-L1,20`: lines of a file, the first is 1. */
export const lines = (first: number, last: number): Argument => {
  const isRange = Number.isSafeInteger(first) && Number.isSafeInteger(last) && first >= 1 && last >= first;
  if (!isRange) throw new GitError('invalid', 'not a range of lines');
  return `-L${first},${last}` as Argument;
};

/** A full name, such as `refs/heads/main`. @throws GitError `invalid` */
export const ref = (text: string): Argument => {
  if (!isFullRef(text)) throw new GitError('invalid', 'not a full ref name');
  return text as Argument;
};

/** A free text behind the `=` of an option: `text('--author=', name)`. @throws GitError `invalid` */
export const text = (name: `--${string}=`, value: string): Argument => {
  if (value.includes('\0')) throw new GitError('invalid', `${name} takes no NUL`);
  return `${name}${value}` as Argument;
};

/** A path of the file system that we made: absolute, so that it is no option. @throws GitError `invalid` */
export const file = (path: string): Argument => {
  if (!path.startsWith('/') || path.includes('\0')) throw new GitError('invalid', 'not an absolute path');
  return path as Argument;
};

/** `--` and paths of a repository; stands last. Pathspecs are literal, by the environment. */
export const paths = (list: readonly string[]): Argument[] => {
  if (list.some((path) => path === '' || path.includes('\0'))) throw new GitError('invalid', 'not a path');
  return ['--', ...list] as Argument[];
};
