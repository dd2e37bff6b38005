/** Renders the differences of files, unified: of a commit, a comparison or a merge request. */
import { hash } from 'node:crypto';
import type { FileDiff } from '../../../../platform/git/protocol_types.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { writeRows } from './write_rows.ts';

/** Lines of all files that are shown at once; later files are collapsed. */
const maxLines = 10_000;

type Given = {
  /** Address of the file after the change. */
  viewPath: (file: FileDiff) => string;
  /** Address of the page with this file alone, for files that are collapsed; null: the page is that. */
  onlyPath: ((file: FileDiff) => string) | null;
};

/** Returns the id of a file's part of the page, for links. */
const diffFileId = (file: Pick<FileDiff, 'new_path'>): string =>
  `diff-${hash('sha1', file.new_path).slice(0, 16)}`;

const stats = ({ additions, deletions }: Pick<FileDiff, 'additions' | 'deletions'>): Html =>
  html`<span class="diff-stats"><span class="stat-add" aria-label="${additions} added">+${additions}</span> <span class="stat-del" aria-label="${deletions} removed">−${deletions}</span></span>`;

/** Renders the number of files, and the lines that were added and removed. */
export const diffSummary = (files: number, counts: { additions: number; deletions: number } | null): Html =>
  html`<p class="row"><b>${files === 1 ? '1 changed file' : `${files} changed files`}</b>${counts !== null && stats(counts)}</p>`;

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
  renamed_file ? html`${old_path} → ${new_path}` : html`${new_path}`;

const collapsed = (reason: string, file: FileDiff, { onlyPath }: Given): Html =>
  html`<p class="body muted">${reason} ${onlyPath !== null && html`<a href="${onlyPath(file)}">Show this file</a>`}</p>`;

const fileBody = (file: FileDiff, given: Given, isCollapsed: boolean): Html => {
  if (file.binary) return html`<p class="body muted">Binary file.</p>`;
  if (file.too_large) {
    return given.onlyPath === null
      ? html`<p class="body muted">The difference is too large to be shown.</p>`
      : collapsed('The difference is large.', file, given);
  }
  if (file.diff === '') return html`<p class="body muted">No lines differ.</p>`;
  if (isCollapsed) return collapsed('Collapsed: the page shows many lines already.', file, given);
  return writeRows(file.diff, diffFileId(file), `Difference of ${file.new_path}`);
};

const renderFile = (file: FileDiff, given: Given, isCollapsed: boolean): Html => {
  const id = diffFileId(file);
  return html`<section class="card diff-file" id="${id}" aria-label="${file.new_path}"><header>${icon('file')}<h2 class="mono"><a href="#${id}">${fileName(file)}</a></h2>${stats(file)}
${notes(file).map((note) => html`<span class="badge">${note}</span>`)}
${!file.deleted_file && html`<a class="button small end" href="${given.viewPath(file)}">View file</a>`}</header>
${fileBody(file, given, isCollapsed)}</section>
`;
};

/** Renders a card for each file. Files beyond a number of lines are collapsed. */
export const diffFiles = (files: readonly FileDiff[], given: Given): Html => {
  let lines = 0;
  const cards = files.map((file, at) => {
    const isCollapsed = given.onlyPath !== null && at > 0 && lines > maxLines;
    lines += file.additions + file.deletions;
    return renderFile(file, given, isCollapsed);
  });
  return html`${cards}`;
};
