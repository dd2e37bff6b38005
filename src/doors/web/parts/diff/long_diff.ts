import type { FileDiff } from '../../../../platform/git/protocol_types.ts';

/** Characters of diffs from which a page is sent while it is rendered. */
const minStreamed = 64 * 1024;

/** Tells whether diffs are so long that a reader would wait for them. */
export const isLongDiff = (files: readonly Pick<FileDiff, 'diff'>[]): boolean =>
  files.reduce((sum, { diff }) => sum + diff.length, 0) >= minStreamed;
