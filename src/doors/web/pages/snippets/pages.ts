import { id, object } from '../../../../platform/http/schema.ts';
import { page, redirect } from '../../page.ts';
import { plainCommentPages } from '../issuables/comment_pages.ts';
import { editCommentPages } from '../issuables/edit_comment_pages.ts';
import { quotePages } from '../issuables/quote_page.ts';
import { formPages } from './forms.ts';
import { listPage } from './list.ts';
import { onePages } from './snippet_page.ts';
import { snippetKind } from './snippet_kind.ts';
import { type SnippetRoutes, personalSnippets, projectSnippets } from './personal_or_project_routes.ts';

const pagesOf = (routes: SnippetRoutes) => [listPage(routes), ...onePages(routes), ...formPages(routes)];

/** Other addresses of personal snippets. */
const redirects = [
  page({
    method: 'GET',
    path: '/snippets',
    audience: 'anyone',
    params: object({}),
    handle: async () => await Promise.resolve(redirect('/-/snippets')),
  }),
  page({
    method: 'GET',
    path: '/-/snippets/:id',
    audience: 'anyone',
    params: object({ id: id() }),
    handle: async (_visit, params) => await Promise.resolve(redirect(`/snippets/${params.id}`)),
  }),
];

export const pages = [
  ...pagesOf(personalSnippets),
  ...pagesOf(projectSnippets),
  ...plainCommentPages(snippetKind),
  ...editCommentPages(snippetKind),
  ...quotePages(snippetKind),
  ...redirects,
];
