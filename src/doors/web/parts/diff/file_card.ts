/** The card of one changed file: header, changes other than lines, and the lines. */
import { hash } from 'node:crypto';
import type { FileDiff, Oid } from '../../../../platform/git/protocol_types.ts';
import { imageType } from '../../pages/blob/blob_kind.ts';
import { type BlobSizes, sizesOf } from './contents/binary_sizes.ts';
import type { DiffView } from '../../request/preferences.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { type ShownDiff, collapseReason } from './folding/collapse_reason.ts';
import type { PreparedRow } from './prepare_rows.ts';
import type { TableOptions } from './row_parts.ts';
import { writeSplit } from './write_split.ts';
import { writeUnified } from './write_unified.ts';

export type FileCard = {
  file: ShownDiff;
  /** Prepared rows of its lines. */
  rows: readonly PreparedRow[];
  view: DiffView;
  /** The page shows only this file. */
  isAlone: boolean;
  /** Why its lines are not shown, apart from the reasons that the file itself gives; null if they are. */
  collapsed?: string | null;
  /** The card is folded when the page opens. */
  isFolded?: boolean;
  /** Address of the file after the change; null if it was deleted. */
  viewPath: string | null;
  /** Addresses of the content before and after the change, for images. */
  rawPaths: { old: string | null; fresh: string | null };
  /** Sizes of the content of a binary file. */
  sizes: BlobSizes;
  /** Contents of SVG images, which are shown above their lines. */
  svgs: ReadonlySet<Oid>;
  /** Address of the editor of the file; null if it is not offered. */
  editPath?: string | null;
  /** URL of the page with only this file; null if there is no such page. */
  onlyPath: string | null;
  /** Address of the page with the whole file; null if it cannot be shown. */
  wholePath?: string | null;
  /** Further controls in the header. */
  actions?: Html | null;
  /** Shown above the lines, such as threads on the file. */
  above?: Html | null;
  table?: Pick<TableOptions, 'commentPath' | 'takesComments' | 'expandPath' | 'below'>;
};

/** Returns the id of a file's part of the page, for links. */
export const diffFileId = ({ new_path }: Pick<FileDiff, 'new_path'>): string =>
  `diff-${hash('sha1', new_path).slice(0, 16)}`;

/** Renders the numbers of added and removed lines; omitting zeros. */
export const diffStats = ({ additions, deletions }: Pick<FileDiff, 'additions' | 'deletions'>): Html =>
  html`<span class="diff-stats">${additions > 0 && html`<span class="stat-add" aria-label="${additions} added">+${additions}</span> `}${
    deletions > 0 && html`<span class="stat-del" aria-label="${deletions} removed">&minus;${deletions}</span>`
  }</span>`;

/** Says what else changed than lines. */
const notes = (file: FileDiff): string[] => {
  const { new_file, deleted_file, renamed_file, a_mode, b_mode } = file;
  const mode = !new_file && !deleted_file && a_mode !== b_mode ? [`mode ${a_mode} → ${b_mode}`] : [];
  const special = [a_mode, b_mode].includes('120000')
    ? ['symlink']
    : [a_mode, b_mode].includes('160000')
      ? ['submodule']
      : [];
  return [
    ...(new_file ? ['added'] : []),
    ...(deleted_file ? ['deleted'] : []),
    ...(renamed_file ? ['renamed'] : []),
    ...mode,
    ...special,
  ];
};

const fileName = ({ old_path, new_path, renamed_file }: FileDiff): Html =>
  renamed_file ? html`${old_path} &rarr; ${new_path}` : html`${new_path}`;

const message = (text: string, link: Html | null | false = null): Html =>
  html`<p class="body muted">${text} ${link}</p>`;

const imageFigure = (path: string | null, name: string, size: string | null): Html | null =>
  path === null
    ? null
    : html`<figure><figcaption>${name}${size !== null && html`, ${size}`}</figcaption><img src="${path}" alt="${name}" loading="lazy"></figure>`;

/** Links to the content of a file that the page does not show. */
const rawLink = (path: string | null, name: string, file: string): Html | null =>
  path === null ? null : html`<a href="${path}">${name}<span class="visually-hidden">: ${file}</span></a> `;

/** `Binary, 12 KiB → 14 KiB`; one size if a side is missing. */
const binaryText = (sizes: readonly (string | null)[]): string => {
  const read = sizes.filter((size) => size !== null);
  return read.length === 0 ? 'Binary file.' : `Binary, ${read.join(' → ')}`;
};

const binaryPart = (card: FileCard): Html => {
  const { file, rawPaths } = card;
  const sizes = sizesOf(file, card.sizes);
  const isImage = imageType(file.new_path) !== null;
  if (!isImage) {
    const links = [
      rawLink(rawPaths.old, 'Before', file.old_path),
      rawLink(rawPaths.fresh, 'After', file.new_path),
    ];
    return message(binaryText([sizes.old, sizes.fresh]), html`${links}`);
  }
  return html`<div class="image-pair">${imageFigure(rawPaths.old, 'Before', sizes.old)}${imageFigure(rawPaths.fresh, 'After', sizes.fresh)}</div>`;
};

/** Renders both sides of an SVG image, which is a text and has lines, too. */
const svgPart = ({ file, rawPaths, svgs }: FileCard): Html | null => {
  const pathOf = (id: Oid, path: string | null): string | null => (svgs.has(id) ? path : null);
  const sides = [
    imageFigure(pathOf(file.old_id, rawPaths.old), 'Before', null),
    imageFigure(pathOf(file.new_id, rawPaths.fresh), 'After', null),
  ];
  return sides.every((side) => side === null) ? null : html`<div class="image-pair">${sides}</div>`;
};

const linesPart = (card: FileCard): Html => {
  const { file, rows, view, table = {}, wholePath = null } = card;
  const options = {
    rows,
    fileId: diffFileId(file),
    label: `Diff of ${file.new_path}`,
    wholePath,
    ...table,
  };
  return view === 'split' ? writeSplit(options) : writeUnified(options);
};

const bodyPart = (card: FileCard): Html => {
  const { file, isAlone, onlyPath } = card;
  if (file.binary) return binaryPart(card);
  const reason = collapseReason(file, { isAlone }) ?? card.collapsed ?? null;
  if (reason !== null) {
    const link = !isAlone && onlyPath !== null && html`<a href="${onlyPath}" data-inline>Show this file</a>`;
    return message(reason, link);
  }
  return file.diff === '' && card.rows.length === 0
    ? message('No lines differ.')
    : html`${svgPart(card)}${linesPart(card)}`;
};

/** Renders the card of a file. */
export const fileCard = (card: FileCard): Html => {
  const { file, actions = null, above = null, isFolded = false, viewPath, wholePath = null } = card;
  const id = diffFileId(file);
  const whole =
    wholePath !== null &&
    html`<a class="button small" href="${wholePath}" data-inline>Whole file<span class="visually-hidden"> ${file.new_path}</span></a>`;
  const view =
    viewPath !== null &&
    html`<a class="button small" href="${viewPath}">View file<span class="visually-hidden"> ${file.new_path}</span></a>`;
  const edit =
    card.editPath &&
    html`<a class="button small" href="${card.editPath}">Edit<span class="visually-hidden"> ${file.new_path}</span></a>`;
  const copy = html`<button type="button" class="small icon-button" data-copy="${file.new_path}" hidden aria-label="Copy the path ${file.new_path}">${icon('copy')}</button>`;
  return html`<section class="card diff-file" id="${id}" aria-label="${file.new_path}" data-path="${file.new_path}" data-old-path="${file.old_path}"><header><input type="checkbox" class="fold" autocomplete="off" aria-label="Fold ${file.new_path}"${isFolded && html` checked`}><h2 class="mono"><a href="#${id}">${fileName(file)}</a></h2>${copy}${diffStats(file)}
${notes(file).map((note) => html`<span class="badge">${note}</span>`)}
<span class="end row">${actions}${whole}${view}${edit}</span></header>
<div class="diff-body">${above}${bodyPart(card)}</div></section>
`;
};
