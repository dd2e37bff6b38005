import type { DiffLimits, FileDiff } from '../../../platform/git/protocol_types.ts';
import { bool, object, string } from '../../../platform/http/schema.ts';

/** The diff of one file, in every reply that shows one. */
export const diffShape = object({
  old_path: string,
  new_path: string,
  a_mode: string,
  b_mode: string,
  new_file: bool,
  renamed_file: bool,
  deleted_file: bool,
  too_large: bool,
  diff: string,
});

/** Limits past which diff texts are omitted. The number of files stays exact. */
export const diffLimits: DiffLimits = {
  files: 1_000,
  lines: 50_000,
  bytes: 5 * 1024 * 1024,
  file_bytes: 200 * 1024,
};

/** Limits of the diff of one file that a page shows separately. */
export const oneFileLimits: DiffLimits = { ...diffLimits, file_bytes: 2 * 1024 * 1024 };

const binaryText = (old: string, now: string): string => `Binary files ${old} and ${now} differ\n`;

const diffText = ({ binary, diff, new_file, deleted_file, old_path, new_path }: FileDiff): string => {
  if (!binary || diff !== '') return diff;
  return binaryText(new_file ? '/dev/null' : `a/${old_path}`, deleted_file ? '/dev/null' : `b/${new_path}`);
};

export const diffJson = (file: FileDiff) => ({
  old_path: file.old_path,
  new_path: file.new_path,
  a_mode: file.a_mode,
  b_mode: file.b_mode,
  new_file: file.new_file,
  renamed_file: file.renamed_file,
  deleted_file: file.deleted_file,
  too_large: file.too_large,
  diff: diffText(file),
});
