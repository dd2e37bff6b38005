/** Paths within a repository, as users write them. */
import { text } from '../http/schema.ts';

/** Bytes of a path that any storage of files takes. */
const longestPath = 4_096;

export const pathParam = (description: string) => text({ maxLength: longestPath, description });

/** From the root, with or without a `/` before it or behind it. */
export const actionPath = (path: string): string => path.replace(/^\/+|\/+$/g, '');

/** Whether any commit can have it: no `.` nor `..` within, no control characters, nothing between two slashes. */
export const isPlainPath = (path: string): boolean =>
  path === '' ||
  (Buffer.byteLength(path) <= longestPath &&
    // oxlint-disable-next-line no-control-regex -- those are what is looked for
    !/[\u0000]/.test(path) &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'));
