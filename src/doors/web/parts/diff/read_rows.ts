/** Reads the rows of a file of a diff, with further lines around its changes. */
import type { FileDiff } from '../../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../../platform/git/repository.ts';
import { expandRows } from './expand_rows.ts';
import type { LineRange } from './line_ranges.ts';
import { type DiffRow, parseLines } from './parse_lines.ts';

/** Largest file that is read. */
const maxBytes = 1024 * 1024;

const submodule = '160000';

/** Returns whether a file has lines around its changes. */
export const hasOtherLines = ({ new_file, deleted_file, binary, a_mode, b_mode }: FileDiff): boolean =>
  !new_file && !deleted_file && !binary && a_mode !== submodule && b_mode !== submodule;

/** Reads the lines of the new file; null if it is too large, or not a text. */
export const readLines = async (repository: Repository, file: FileDiff): Promise<string[] | null> => {
  if (file.deleted_file) return null;
  const { result, body } = await repository.read('blob.get', { id: file.new_id, max: maxBytes });
  if (result === null || !result.whole) return null;
  const lines = body.toString('utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

/** Reads the rows of a file. @param ranges further lines to show; null if there can be none */
export const readRows = async (
  repository: Repository,
  file: FileDiff,
  ranges: readonly LineRange[] | 'all' | null,
): Promise<DiffRow[]> => {
  if (file.binary || file.diff === '') return [];
  const rows = parseLines(file.diff);
  if (ranges === null || !hasOtherLines(file)) return rows;
  const lines = ranges.length > 0 ? await readLines(repository, file) : null;
  return expandRows(rows, { lines, ranges });
};
