/**
 * Arguments of git, each typed by its role. User input never appears where git could read it as an option or
 * expression.
 */
import { GitError } from '../git_error.ts';
import { isFullRef } from '../ref_names.ts';

declare const slot: unique symbol;
/** A checked word of git's command line. */
export type Argument = string & { readonly [slot]: true };

/** A literal of our code: `flag('--count')`. The type refuses computed strings. */
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

/** A full object id. @throws GitError `invalid` */
export const oid = (text: unknown): Argument => {
  if (!isOid(text)) throw new GitError('invalid', 'not an object id');
  return text as Argument;
};

/** `^A`: excludes the history of a commit. */
export const without = (text: string): Argument => `^${oid(text)}` as Argument;

/** `A...B`: commits in one history but not in both. */
export const symmetric = (left: string, right: string): Argument =>
  `${oid(left)}...${oid(right)}` as Argument;

/** `-L1,20`: lines of a file, the first is 1. */
export const lines = (first: number, last: number): Argument => {
  const isRange = Number.isSafeInteger(first) && Number.isSafeInteger(last) && first >= 1 && last >= first;
  if (!isRange) throw new GitError('invalid', 'not a range of lines');
  return `-L${first},${last}` as Argument;
};

/** A full ref name, such as `refs/heads/main`. @throws GitError `invalid` */
export const ref = (text: string): Argument => {
  if (!isFullRef(text)) throw new GitError('invalid', 'not a full ref name');
  return text as Argument;
};

/** Free text after the `=` of an option: `text('--author=', name)`. @throws GitError `invalid` */
export const text = (name: `--${string}=`, value: string): Argument => {
  if (value.includes('\0')) throw new GitError('invalid', `${name} must not contain NUL`);
  return `${name}${value}` as Argument;
};

/** `-e` and a pattern, which git then never reads as an option. @throws GitError `invalid` */
export const pattern = (value: string): Argument[] => {
  if (value === '' || /[\0\n]/.test(value)) throw new GitError('invalid', 'not a pattern of one line');
  return ['-e', value] as Argument[];
};

/** An absolute path that we built, so that it cannot be an option. @throws GitError `invalid` */
export const file = (path: string): Argument => {
  if (!path.startsWith('/') || path.includes('\0')) throw new GitError('invalid', 'not an absolute path');
  return path as Argument;
};

/** `--` and paths within a repository; comes last. The environment makes pathspecs literal. */
export const paths = (list: readonly string[]): Argument[] => {
  if (list.some((path) => path === '' || path.includes('\0'))) throw new GitError('invalid', 'not a path');
  return ['--', ...list] as Argument[];
};
