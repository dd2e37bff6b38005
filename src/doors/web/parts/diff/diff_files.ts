/** Renders the diffs of files of a commit or a comparison. */
import type { Call } from '../../../../core/access/call.ts';
import type { FileDiff } from '../../../../platform/git/protocol_types.ts';
import { type Html, html } from '../html.ts';
import { streamInOrder } from './stream_in_order.ts';
import { collapseReason } from './collapse_reason.ts';
import { type DiffView, diffStats, fileCard } from './file_card.ts';
import { isLongDiff } from './long_diff.ts';
import { parseLines } from './parse_lines.ts';
import { type PreparedRow, highlightedRows } from './prepare_rows.ts';
import { spellCount } from '../spell_count.ts';

/** Lines of all files that are shown at once; later files are collapsed. */
const maxLines = 10_000;

type Given = {
  call: Call;
  view: DiffView;
  /** Address of the file after the change. */
  viewPath: (file: FileDiff) => string;
  /** Addresses of the content before and after the change. */
  rawPaths: (file: FileDiff) => { old: string | null; fresh: string | null };
  /** Address of the page with this file alone, for files that are collapsed; null: the page is that. */
  onlyPath: ((file: FileDiff) => string) | null;
};

/** Renders the number of files, and the lines that were added and removed. */
export const diffSummary = (files: number, counts: { additions: number; deletions: number } | null): Html =>
  html`<p class="row"><b>${spellCount(files, 'changed file')}</b>${counts !== null && diffStats(counts)}</p>`;

const readRows = async (call: Call, file: FileDiff): Promise<PreparedRow[]> =>
  file.binary || file.diff === '' ? [] : await highlightedRows(call, file.new_path, parseLines(file.diff));

/** Finds the files after the lines that are shown at once. */
const findLate = (files: readonly FileDiff[]): Set<FileDiff> => {
  let lines = 0;
  const late = new Set<FileDiff>();
  for (const [at, file] of files.entries()) {
    if (at > 0 && lines > maxLines) late.add(file);
    lines += file.additions + file.deletions;
  }
  return late;
};

/** Renders a card for each file. Files beyond a number of lines are collapsed. */
export const diffFiles = async (files: readonly FileDiff[], given: Given): Promise<Html> => {
  const { call, view, viewPath, rawPaths, onlyPath } = given;
  const isAlone = onlyPath === null;
  const late = isAlone ? new Set<FileDiff>() : findLate(files);
  const renderCard = async (file: FileDiff): Promise<Html> => {
    const isLate = late.has(file);
    const isCollapsed = isLate || collapseReason(file, { isAlone }) !== null;
    return fileCard({
      file,
      rows: isCollapsed ? [] : await readRows(call, file),
      view,
      isAlone,
      collapsed: isLate ? 'Collapsed: the page shows many lines already.' : null,
      viewPath: file.deleted_file ? null : viewPath(file),
      rawPaths: rawPaths(file),
      onlyPath: onlyPath?.(file) ?? null,
    });
  };
  return isLongDiff(files)
    ? streamInOrder(files, renderCard)
    : html`${await Promise.all(files.map(renderCard))}`;
};
