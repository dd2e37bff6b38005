/** The page of a snippet, and its text. */
import { createHash } from 'node:crypto';
import { may } from '../../../../core/access/may.ts';
import { anonymous } from '../../../../core/access/viewer.ts';
import { object, id, integer, optional } from '../../../../platform/http/schema.ts';
import { snippetsJson } from '../../../../projects/snippets/json.ts';
import { mayChange } from '../../../../projects/snippets/snippet_home.ts';
import { findSnippet, loadContent } from '../../../../projects/snippets/queries.ts';
import { plainHeaders } from '../../../../projects/snippets/routes.ts';
import type { SnippetRow } from '../../../../projects/snippets/snippet_row.ts';
import { RawPage, type View, type Visit, page } from '../../page.ts';
import { writeLines } from '../../parts/code/write_lines.ts';
import { highlightLines } from '../../parts/highlight.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { markdown } from '../../parts/markdown.ts';
import { relative } from '../../parts/timestamp.ts';
import { pagesNav } from '../../parts/paging.ts';
import { summarize } from '../../parts/projects/project_preview.ts';
import { person } from '../../parts/user_link.ts';
import { visibilityMark } from './list.ts';
import { type SnippetRoutes, type SnippetList, ownerParam } from './snippet_routes.ts';

/** Lines on a page. */
const maxLines = 2_500;

/** Renders a page of the numbered lines of a text. */
const linesPart = async (
  { call }: Visit,
  { text, name, path }: { text: string; name: string; path: string },
  requested: number,
): Promise<{ content: Html; nav: Html | null }> => {
  const key = createHash('sha1').update(text).digest('hex');
  const { lines } = await highlightLines(call, { text, path: name, key });
  const last = Math.max(Math.ceil(lines.length / maxLines), 1);
  const number = Math.min(Math.max(requested, 1), last);
  const offset = (number - 1) * maxLines;
  const shown = lines.slice(offset, offset + maxLines);
  return {
    content: writeLines({ lines: shown, first: offset + 1, size: maxLines, total: lines.length }),
    nav: pagesNav({
      path,
      query: {},
      page: { page: number, per_page: maxLines, limit: maxLines, offset },
      total: lines.length,
      isFixedSize: true,
    }),
  };
};

const headPart = (list: SnippetList, snippet: SnippetRow, author: Html | null, canChange: boolean): Html =>
  html`<div class="stack tight"><div class="row between top"><h1>${snippet.title} <span class="muted number">$${snippet.id}</span></h1>${
    canChange &&
    html`<a class="button" href="${list.pathOf(snippet.id)}/edit" data-key="e">${icon('pencil')} Edit <kbd aria-hidden="true">e</kbd></a>`
  }</div>
<div class="row">${visibilityMark(snippet.visibility)}${author}<span class="muted">created ${relative(snippet.created_at)}${
    snippet.updated_at !== snippet.created_at && html`, edited ${relative(snippet.updated_at)}`
  }</span></div></div>`;

const oneView = async (
  visit: Visit,
  list: SnippetList,
  snippetId: number,
  requested: number,
): Promise<View> => {
  const { call } = visit;
  const { home } = list;
  const snippet = await findSnippet(call, call.db, home, snippetId);
  const path = list.pathOf(snippet.id);
  const name = snippet.file_name === '' ? 'snippet.txt' : snippet.file_name;
  const text = await loadContent(call.db, snippet.id);
  const description = (snippet.description ?? '').trim();
  const [[json], { content, nav }, about] = await Promise.all([
    snippetsJson(call, home, [snippet]),
    linesPart(visit, { text, name, path }, requested),
    description === '' ? null : markdown(call, description, { project: home }),
  ]);
  const author = json?.author ?? null;
  const card = html`<section class="card" aria-labelledby="file"><header>${icon('file')}<h2 id="file">${name}</h2><span class="end row"><a class="button small" href="${path}/raw">Raw</a><button type="button" class="small" data-copy-from="${path}/raw" hidden aria-label="Copy the content">${icon('copy')}</button></span></header>
${content}</section>`;
  const isPublic = snippet.visibility === 'public' && (home === null || may(anonymous, 'read_snippet', home));
  const preview = { description: description === '' ? name : summarize(description) };
  return list.view(
    `${snippet.title} ($${snippet.id})`,
    html`${headPart(list, snippet, author && person(author), call.signedIn && mayChange(call, home, snippet))}
${about}
${card}
${nav}`,
    { hasHeading: true, ...(isPublic && { view: { preview } }) },
  );
};

/** Makes the pages of one snippet. */
export const onePages = (routes: SnippetRoutes) => [
  page({
    method: 'GET',
    path: `${routes.one}/:id`,
    audience: 'visitor',
    params: object({ ...ownerParam, id: id(), page: optional(integer()) }),
    handle: async (visit, params) =>
      await oneView(visit, await routes.open(visit, params), params.id, params.page ?? 1),
  }),
  page({
    method: 'GET',
    path: `${routes.one}/:id/raw`,
    audience: 'visitor',
    params: object({ ...ownerParam, id: id() }),
    handle: async (visit, params) => {
      const { home } = await routes.open(visit, params);
      const { call } = visit;
      const snippet = await findSnippet(call, call.db, home, params.id);
      return new RawPage(await loadContent(call.db, snippet.id), plainHeaders);
    },
  }),
];
