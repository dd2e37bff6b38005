/** The card with the content of a file. */
import type { LoadedFile } from '../../../../code/repository/files/find_file.ts';
import type { Visit } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import type { CodeLocation } from '../../parts/code/code_location.ts';
import { isInexactPath } from '../../parts/code/file_names.ts';
import { formatBytes } from '../../../../platform/format_bytes.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { markdown } from '../../parts/markdown.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type BlobKind, loadBlobKind } from './blob_kind.ts';
import { csvTable } from './csv_table.ts';
import { fileButtons, sourceSwitch } from './file_buttons.ts';
import { loadFileTable, maxLines } from './file_table.ts';
import { lineMenu } from './line_menu.ts';
import { notebookView } from './notebook_view.ts';
import { outlineMenu } from './outline.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

type PageQuery = { page: number; isPlain: boolean };
type Shown = {
  content: Html;
  nav?: Html | null;
  facts: string[];
  /** Further controls in the header. */
  controls?: Html | null;
};

const notice = (text: Html | string): Html => html`<p class="body">${text}</p>`;

const showText = async (
  visit: Visit,
  location: CodeLocation,
  [{ file }, text]: [LoadedFile, string],
  query: PageQuery,
): Promise<Shown> => {
  const { project, ref, path } = location;
  const table = await loadFileTable(visit.call, { text, path, key: file.blob_id }, query.page);
  const { content, total, page } = table;
  if (total === 0) return { content: notice('The file is empty.'), facts: [] };
  const nav = pagesNav({
    path: codePath(project, 'blob', ref, path),
    query: { plain: query.isPlain ? '1' : undefined },
    page: { page, per_page: maxLines, limit: maxLines, offset: (page - 1) * maxLines },
    total,
    isFixedSize: true,
  });
  const lines = html`${content}${lineMenu(visit, location)}`;
  return { content: lines, nav, facts: [spellCount(total, 'line')] };
};

/** Renders where a symlink leads. */
const showLink = ({ project, ref, path }: CodeLocation, target: string): Shown => {
  const parts = target.startsWith('/') ? null : path.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..') parts?.pop();
    else if (part !== '.' && part !== '') parts?.push(part);
  }
  const isOutside =
    parts === null || target.split('/').filter((part) => part === '..').length >= path.split('/').length;
  const shown = html`<code>${target}</code>`;
  const link = isOutside
    ? shown
    : html`<a href="${codePath(project, 'blob', ref, parts.join('/'))}">${shown}</a>`;
  return { content: notice(html`Symbolic link to ${link}`), facts: ['symlink'] };
};

/** Says why a file is not shown. */
const showNotice = (raw: string, kind: BlobKind & { kind: 'binary' | 'large' | 'lfs' | 'pdf' }): Shown => {
  if (kind.kind === 'large') {
    const text = html`The file is too large to be shown. <a href="${raw}">View it raw</a> or download it.`;
    return { content: notice(text), facts: [] };
  }
  if (kind.kind === 'binary') {
    const text = html`Binary file. <a href="${raw}?inline=false">Download it</a> to open it.`;
    return { content: notice(text), facts: ['binary'] };
  }
  if (kind.kind === 'pdf') {
    const text = html`PDF files are not shown here. <a class="button" href="${raw}?inline=false" download>Download it</a> to open it.`;
    return { content: notice(text), facts: ['PDF'] };
  }
  const text = html`Stored with Git LFS: the repository has a pointer to ${formatBytes(kind.size)}, SHA-256 <code>${kind.oid}</code>.`;
  return { content: notice(text), facts: ['Git LFS'] };
};

/** Renders a player. The browser loads the file only when it is started. */
const showMedia = (raw: string, element: 'audio' | 'video', name: string): Html => {
  const fallback = html`<a href="${raw}?inline=false">Download ${name}</a>`;
  return element === 'audio'
    ? html`<p class="body image"><audio controls preload="none" src="${raw}" aria-label="${name}">${fallback}</audio></p>`
    : html`<p class="body image"><video controls preload="none" src="${raw}" aria-label="${name}">${fallback}</video></p>`;
};

const showContent = async (
  visit: Visit,
  location: CodeLocation,
  [loaded, kind]: [LoadedFile, BlobKind],
  query: PageQuery,
): Promise<Shown> => {
  const { project, ref, path } = location;
  const raw = codePath(project, 'raw', ref, path);
  if (kind.kind === 'symlink') return showLink(location, kind.target);
  const isSource = kind.kind === 'text' || ('text' in kind && query.isPlain);
  if (isSource) return await showText(visit, location, [loaded, kind.text], query);
  if (kind.kind === 'image' || kind.kind === 'svg') {
    const image = html`<p class="body image"><img src="${raw}" alt="${loaded.file.file_name}"></p>`;
    return { content: image, facts: [] };
  }
  if (kind.kind === 'media')
    return { content: showMedia(raw, kind.element, loaded.file.file_name), facts: [kind.element] };
  if (kind.kind === 'csv') return csvTable(path, kind.text);
  if (kind.kind === 'notebook')
    return { content: await notebookView(visit, location, kind.notebook, raw), facts: ['Jupyter notebook'] };
  if (kind.kind === 'markdown') {
    const content = await markdown(visit.call, kind.text, { project, ref, path });
    return { content, facts: [], controls: outlineMenu(content) };
  }
  return showNotice(raw, kind);
};

/** Kinds that can be shown as their source, too. */
const rendered = new Set<BlobKind['kind']>(['markdown', 'svg', 'csv', 'notebook']);

/** Returns the card: facts and buttons above the content. */
export const blobCard = async (
  visit: Visit,
  location: CodeLocation,
  loaded: LoadedFile,
  query: PageQuery,
): Promise<Html> => {
  const { file, mode, content } = loaded;
  const kind = await loadBlobKind(visit.call, file.blob_id, { path: location.path, mode, content });
  const shown = await showContent(visit, location, [loaded, kind], query);
  const facts = [
    ...shown.facts,
    formatBytes(file.size),
    ...(file.execute_filemode ? ['executable'] : []),
    ...(isInexactPath(location.path) ? ['name is not UTF-8'] : []),
  ];
  const hasSwitch = rendered.has(kind.kind);
  const isImage = kind.kind === 'image' || kind.kind === 'svg';
  return html`<section class="card" aria-labelledby="file"><header>${icon(isImage ? 'image' : 'file')}<h2 id="file">${file.file_name}</h2>
<span class="muted small">${facts.join(' · ')}</span>
<span class="end row tight">${shown.controls}${hasSwitch && sourceSwitch(location, query.isPlain)}${fileButtons(visit, location, [loaded, kind])}</span></header>
${shown.content}</section>
${shown.nav}`;
};
