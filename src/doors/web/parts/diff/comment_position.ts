/** The line of a file that an address opens the form for a comment at. */
import type { FileDiff } from '../../../../platform/git/protocol_types.ts';
import { diffFileId } from './file_card.ts';

/** A line of a file that a comment is about; null: the file as a whole. */
export type CommentPosition = { file: Pick<FileDiff, 'old_path' | 'new_path'>; line: string | null };

const placePattern = /^(diff-[\da-f]{16})(?:_((?:old|new)_\d{1,10}))?$/;

/** Finds the position that the parameter `comment` of an address names: `diff-0123456789abcdef_new_12`. */
export const findCommentPosition = <File extends Pick<FileDiff, 'old_path' | 'new_path'>>(
  files: readonly File[],
  comment: string | undefined,
): { file: File; line: string | null } | null => {
  const [, id, line = null] = placePattern.exec(comment ?? '') ?? [];
  const file = id === undefined ? undefined : files.find((one) => diffFileId(one) === id);
  return file === undefined ? null : { file, line };
};

/** Returns the accessible name of the form for a comment. */
export const titleOfComment = (line: string | null): string => {
  const [side, number] = line?.split('_') ?? [];
  if (number === undefined) return 'Comment on the file';
  return `Comment on line ${number}${side === 'old' ? ' before the change' : ''}`;
};
