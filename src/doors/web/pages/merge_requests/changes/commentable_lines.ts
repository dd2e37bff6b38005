/**
 * Which lines of a comparison of two versions take comments. A comment is stored at a line that the merge request
 * changes, or shows around a change, in the newer version: not at lines of the older version, and not where the newer
 * version takes a change back.
 */
import type { FileDiff } from '../../../../../platform/git/protocol_types.ts';
import { readVersionDiff } from '../../../../../review/merge_requests/versions/version_diff.ts';
import { parseLines } from '../../../parts/diff/parse_lines.ts';
import type { LineRow } from '../../../parts/diff/row_parts.ts';
import type { Cards } from './card_context.ts';

type Commentable = {
  /** The file takes comments. */
  file: boolean;
  line: (row: Pick<LineRow, 'kind' | 'new'>) => boolean;
};

const all: Commentable = { file: true, line: () => true };
const none: Commentable = { file: false, line: () => false };

/** Returns what takes comments of a file on the page. Not of a comparison: all that the page shows. */
export const findCommentable = async (
  { visit, changes, rights }: Cards,
  file: FileDiff,
): Promise<Commentable> => {
  const { loaded, since, version } = changes;
  if (since === null || !rights.mayComment || !version?.head_commit_sha) return all;
  const request = { from: version.base_commit_sha, to: version.head_commit_sha };
  const read = await readVersionDiff(visit.call, loaded.project, request);
  const own = read?.diffs.find(({ new_path }) => new_path === file.new_path);
  const isOfNewSide = ({ kind }: Pick<LineRow, 'kind'>): boolean => kind !== 'del';
  // Of large changes, the lines are unknown here; the form says so where a line takes no comment.
  if (read === null || (own === undefined && read.overflow)) return { file: true, line: isOfNewSide };
  if (own === undefined) return none;
  if (own.too_large) return { file: true, line: isOfNewSide };
  const lines = new Set<number>();
  for (const row of parseLines(own.diff)) {
    if (row.kind === 'same' || row.kind === 'add') lines.add(row.new);
  }
  return { file: true, line: (row) => isOfNewSide(row) && lines.has(row.new) };
};
