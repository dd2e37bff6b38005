/** Renders the diffs of files of a commit or a comparison. */
import type { Call } from '../../../../core/access/call.ts';
import type { FileDiff, Oid } from '../../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../../platform/git/repository.ts';
import { type Html, html } from '../html.ts';
import { isLongDiff, streamInOrder } from './stream_in_order.ts';
import { type ShownDiff, collapseReason } from './folding/collapse_reason.ts';
import type { DiffChoice } from './diff_choice.ts';
import { type BlobSizes, readBinarySizes } from './contents/binary_sizes.ts';
import { diffFileId, diffStats, fileCard } from './file_card.ts';
import { type LineRange, addRange, parseRanges } from './line_ranges.ts';
import { highlightedRows } from './prepare_rows.ts';
import { hasOtherLines, readRows } from './read_rows.ts';
import { readSvgBlobs } from './contents/svg_blobs.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

/** Maximum total lines shown initially; later files are collapsed. */
const maxLines = 10_000;

/** Content between the lines of a file. */
export type LineParts = {
  /** Start of the addresses that open the form for a comment on a line; null: lines take no comments. */
  commentPath: string | null;
  /** Parts below lines, by their key. */
  below: ReadonlyMap<string, Html>;
};

type DiffFilesOptions = {
  call: Call;
  /** The repository that has the files after the change. */
  repository: Repository;
  choice: DiffChoice;
  /** Address of the file after the change. */
  viewPath: (file: FileDiff) => string;
  /** Addresses of the content before and after the change. */
  rawPaths: (file: FileDiff) => { old: string | null; fresh: string | null };
  /** URL of the page with only this file. @param more parameters about its lines */
  onlyPath: (file: FileDiff, more?: Record<string, string>) => string;
  linePartsOf?: ((file: FileDiff) => LineParts) | undefined;
};

/** Renders the number of files, and the lines that were added and removed. */
export const diffSummary = (files: number, counts: { additions: number; deletions: number } | null): Html =>
  html`<p class="row"><b>${spellCount(files, 'changed file')}</b>${counts !== null && diffStats(counts)}</p>`;

/** Finds the files beyond the initially shown lines. */
const findLate = (files: readonly FileDiff[]): Set<FileDiff> => {
  let lines = 0;
  const late = new Set<FileDiff>();
  for (const [at, file] of files.entries()) {
    if (at > 0 && lines > maxLines) late.add(file);
    lines += file.additions + file.deletions;
  }
  return late;
};

/** Returns the files whose lines are shown. */
export const findOpenFiles = <File extends ShownDiff>(
  files: readonly File[],
  { file }: DiffChoice,
): File[] => {
  const isAlone = file !== undefined;
  const late = isAlone ? new Set<FileDiff>() : findLate(files);
  return files.filter((one) => !late.has(one) && collapseReason(one, { isAlone }) === null);
};

const shownRanges = ({ file, expand, isWhole = false }: DiffChoice): LineRange[] | 'all' => {
  if (file === undefined) return [];
  return isWhole ? 'all' : parseRanges(expand);
};

type Read = { isLate: boolean; sizes: BlobSizes; svgs: ReadonlySet<Oid> };

const renderCard = async (
  file: FileDiff,
  options: DiffFilesOptions,
  { isLate, sizes, svgs }: Read,
): Promise<Html> => {
  const { call, repository, choice, viewPath, rawPaths } = options;
  const isAlone = choice.file !== undefined;
  const isCollapsed = isLate || collapseReason(file, { isAlone }) !== null;
  const ranges = shownRanges(choice);
  const rows = isCollapsed ? [] : await readRows(repository, file, ranges);
  const onlyPath = (more: Record<string, string> = {}): string =>
    `${options.onlyPath(file, more)}#${diffFileId(file)}`;
  const canExpand = !isCollapsed && hasOtherLines(file) && ranges !== 'all';
  return fileCard({
    file,
    rows: await highlightedRows(call, file.new_path, rows),
    view: choice.view,
    isAlone,
    collapsed: isLate ? 'Collapsed: the page shows many lines already.' : null,
    viewPath: file.deleted_file ? null : viewPath(file),
    rawPaths: rawPaths(file),
    sizes,
    svgs,
    onlyPath: isAlone ? null : onlyPath(),
    wholePath: canExpand ? onlyPath({ whole: '1' }) : null,
    table: {
      ...options.linePartsOf?.(file),
      expandPath: (range) => {
        const expand = ranges === 'all' ? null : addRange(ranges, range);
        return expand === null ? null : onlyPath({ expand });
      },
    },
  });
};

/** Renders a card for each file. Files beyond a number of lines are collapsed. */
export const diffFiles = async (files: readonly FileDiff[], options: DiffFilesOptions): Promise<Html> => {
  const late = options.choice.file === undefined ? findLate(files) : new Set<FileDiff>();
  const [sizes, svgs] = await Promise.all([
    readBinarySizes(options.repository, files),
    readSvgBlobs(options.repository, findOpenFiles(files, options.choice)),
  ]);
  const render = async (file: FileDiff): Promise<Html> =>
    await renderCard(file, options, { isLate: late.has(file), sizes, svgs });
  return isLongDiff(files) ? streamInOrder(files, render) : html`${await Promise.all(files.map(render))}`;
};
