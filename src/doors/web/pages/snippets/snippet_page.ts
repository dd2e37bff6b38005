/** The page of a snippet, and its text. */
import { may } from '../../../../core/access/may.ts';
import { anonymous } from '../../../../core/access/viewer.ts';
import { object, id, integer, optional, text } from '../../../../platform/http/schema.ts';
import { currentRef, snippetsJson } from '../../../../projects/snippets/json.ts';
import { mayChange, missing } from '../../../../projects/snippets/snippet_home.ts';
import { loadFile, loadFiles } from '../../../../projects/snippets/files.ts';
import { findSnippet, loadContent } from '../../../../projects/snippets/queries.ts';
import { plainHeaders } from '../../../../projects/snippets/raw_routes.ts';
import type { SnippetRow } from '../../../../projects/snippets/snippet_row.ts';
import { RawPage, type View, type Visit, page, withRefusal } from '../../page.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { markdown } from '../../parts/markdown.ts';
import { relative } from '../../parts/timestamp.ts';
import { shortenMarkdown } from '../../parts/shorten_text.ts';
import { userLink } from '../../parts/user_link.ts';
import { type RequestedLines, fileCards, nameOf } from './file_cards.ts';
import { commentsPart } from './comments_part.ts';
import { snippetVisibility } from './list.ts';
import { type SnippetRoutes, type SnippetList, ownerParam } from './personal_or_project_routes.ts';

const headPart = (list: SnippetList, snippet: SnippetRow, author: Html | null, canChange: boolean): Html =>
  html`<div class="stack tight"><div class="row between top"><h1>${snippet.title} <span class="muted number">$${snippet.id}</span></h1>${
    canChange &&
    html`<a class="button" href="${list.pathOf(snippet.id)}/edit" data-key="e">${icon('pencil')} Edit <kbd aria-hidden="true">e</kbd></a>`
  }</div>
<div class="row">${snippetVisibility(snippet.visibility)}${author}<span class="muted">created ${relative(snippet.created_at)}${
    snippet.updated_at !== snippet.created_at && html`, edited ${relative(snippet.updated_at)}`
  }</span></div></div>`;

type ShownWith = {
  lines?: RequestedLines;
  /** Page of the comments; undefined: the last. */
  comments?: number | undefined;
  /** Problems of a refused form. */
  alert?: string;
  /** Comment that was not accepted. */
  typed?: string;
};

/** Renders the page of a snippet. */
export const snippetView = async (
  visit: Visit,
  list: SnippetList,
  snippet: SnippetRow,
  { lines = { file: undefined, page: 1 }, comments, alert, typed }: ShownWith = {},
): Promise<View> => {
  const { call } = visit;
  const { home } = list;
  const path = list.pathOf(snippet.id);
  const files = await loadFiles(call.db, snippet.id);
  const description = (snippet.description ?? '').trim();
  const [[json], cards, about, talk] = await Promise.all([
    snippetsJson(call, home, [snippet]),
    fileCards(visit, path, files, lines),
    description === '' ? null : markdown(call, description, { project: home }),
    home === null ? null : commentsPart(visit, home, snippet, { path, requested: comments, typed }),
  ]);
  const author = json?.author ?? null;
  const isPublic = snippet.visibility === 'public' && (home === null || may(anonymous, 'read_snippet', home));
  const preview = {
    description: description === '' ? files.map(nameOf).join(', ') : shortenMarkdown(description),
  };
  const view = list.view(
    `${snippet.title} ($${snippet.id})`,
    html`${alert !== undefined && html`<p class="flash alert" role="alert">${alert}</p>`}${headPart(list, snippet, author && userLink(author), call.signedIn && mayChange(call, home, snippet))}
${about}
${cards}
${talk}`,
    { hasHeading: true, ...(isPublic && { view: { preview } }) },
  );
  return withRefusal(view, alert !== undefined);
};

/** Makes the pages of one snippet. */
export const onePages = (routes: SnippetRoutes) => [
  page({
    method: 'GET',
    path: `${routes.one}/:id`,
    audience: 'visitor',
    params: object({
      ...ownerParam,
      id: id(),
      page: optional(integer()),
      file: optional(text()),
      comments: optional(integer()),
    }),
    handle: async (visit, params) => {
      const { call } = visit;
      const list = await routes.open(visit, params);
      const snippet = await findSnippet(call, call.db, list.home, params.id);
      const lines = { file: params.file, page: params.page ?? 1 };
      return await snippetView(visit, list, snippet, { lines, comments: params.comments });
    },
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
  page({
    method: 'GET',
    path: `${routes.one}/:id/raw/:ref/:path`,
    audience: 'visitor',
    params: object({ ...ownerParam, id: id(), ref: text(), path: text() }),
    handle: async (visit, params) => {
      if (params.ref !== currentRef) throw missing();
      const { home } = await routes.open(visit, params);
      const { call } = visit;
      const snippet = await findSnippet(call, call.db, home, params.id);
      return new RawPage(await loadFile(call.db, snippet.id, params.path), plainHeaders);
    },
  }),
];
