/** Validates and normalizes paths within a repository. */
import { text } from '../../../platform/http/schema.ts';
import { trimSlashes } from '../../../platform/trim.ts';

/** Maximum bytes of a path that every file system accepts. */
const maxPathBytes = 4_096;

export const pathParam = (description: string) => text({ maxLength: maxPathBytes, description });

/** Removes leading slashes: paths are relative to the root of the repository. */
export const stripLeadingSlashes = (path: string): string => path.replace(/^\/+/, '');

/** Removes leading and trailing slashes. */
export const stripSlashes = trimSlashes;

/** Returns whether a commit can contain the path: no `.` or `..` segments, no NUL and no empty segments. */
export const isPlainPath = (path: string): boolean =>
  path === '' ||
  (Buffer.byteLength(path) <= maxPathBytes &&
    // oxlint-disable-next-line no-control-regex -- the pattern looks for NUL
    !/[\u0000]/.test(path) &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'));
