/** Splits the files of a large change into parts that are loaded one after another. Pure. */
import type { FileDiff } from '../../../../../platform/git/protocol_types.ts';
import { collapseReason } from '../../../parts/diff/folding/collapse_reason.ts';

/** Changed lines and files of one part. */
const maxLines = 1_500;
const maxFiles = 50;

const shownLines = (file: FileDiff): number =>
  collapseReason(file, { isAlone: false }) === null ? file.additions + file.deletions : 0;

/** Splits files into parts, in their order. The split depends on nothing but the files. */
export const splitFiles = (files: readonly FileDiff[]): FileDiff[][] => {
  const parts: FileDiff[][] = [];
  let lines = 0;
  for (const file of files) {
    const part = parts.at(-1);
    const own = shownLines(file);
    if (part === undefined || part.length >= maxFiles || (lines + own > maxLines && lines > 0)) {
      parts.push([file]);
      lines = own;
    } else {
      part.push(file);
      lines += own;
    }
  }
  return parts;
};

/** Returns the number of the part that has a file; 1 for an unknown file. */
export const partOf = (parts: readonly (readonly FileDiff[])[], path: string): number =>
  Math.max(parts.findIndex((part) => part.some(({ new_path }) => new_path === path)) + 1, 1);
