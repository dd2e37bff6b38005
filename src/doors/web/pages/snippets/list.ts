/** Lists of snippets. */
import { unauthorized } from '../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { snippetsJson } from '../../../../projects/snippets/json.ts';
import { mayCreate } from '../../../../projects/snippets/snippet_home.ts';
import { listSnippets } from '../../../../projects/snippets/queries.ts';
import { type View, type Visit, page } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { choiceTabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../parts/html.ts';
import { type IconName, icon } from '../../parts/icon.ts';
import { relativeTo } from '../../parts/timestamp.ts';
import { searchForm } from '../../parts/search_form.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type SnippetRoutes, type SnippetList, ownerParam } from './personal_or_project_routes.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

type Json = Awaited<ReturnType<typeof snippetsJson>>[number];

const visibilities: Readonly<Record<string, readonly [IconName, string]>> = {
  private: ['lock', 'Private'],
  internal: ['shield', 'Internal'],
  public: ['globe', 'Public'],
};

/** Renders the visibility of a snippet. */
export const snippetVisibility = (visibility: string): Html => {
  const [name, word] = visibilities[visibility] ?? ['lock', visibility];
  return html`<span class="status off">${icon(name)} ${word}</span>`;
};

const row = (list: SnippetList, { id, title, file_name, visibility, author, created_at }: Json): Html =>
  html`<li><span class="lead">${icon('file')}</span><span><a class="title" href="${list.pathOf(id)}" data-row>${title}</a></span><span class="side">${snippetVisibility(
    visibility,
  )}</span><span class="meta">$${id}${file_name !== '' && html` · <code>${file_name}</code>`} · created ${relativeTo(created_at)}${author !== null && ` by ${author.name}`}</span></li>
`;

type Whose = 'own' | 'public';

const whoseTabs = ({ listPath }: SnippetList, whose: Whose, search: string | undefined): Html =>
  choiceTabs({
    label: 'Snippets',
    path: listPath,
    param: 'of',
    chosen: whose === 'own' ? undefined : whose,
    names: { public: 'Public' },
    allName: 'Yours',
    keep: { ...(search !== undefined && { search }) },
  });

type PageQuery = { of?: Whose | undefined; search?: string | null; page?: number; per_page?: number };

const noSnippets = (search: string | undefined): Html =>
  search === undefined
    ? emptyState({ icon: 'file', title: 'No snippets', text: 'Snippets share a piece of code or text.' })
    : emptyState({ icon: 'search', title: 'No results', text: 'No title or file name matches.' });

const listView = async (visit: Visit, list: SnippetList, pageQuery: PageQuery): Promise<View> => {
  const { call } = visit;
  const { home, listPath, view } = list;
  const whose = pageQuery.of ?? 'own';
  if (home === null && whose === 'own' && !call.signedIn) throw unauthorized();
  const requested = pageRequest(pageQuery);
  const of = home === null ? whose : 'all';
  const search = omitEmpty((pageQuery.search ?? '').trim());
  const filter = { of, ...(search !== undefined && { search }) } as const;
  const { items, total } = await listSnippets(call, home, filter, requested);
  const shown = await snippetsJson(call, home, items);
  const fresh =
    mayCreate(call, home) &&
    html`<a class="button primary" href="${listPath}/new">${icon('plus')} New snippet</a>`;
  const rows =
    shown.length === 0
      ? noSnippets(search)
      : html`<header><span class="muted">${spellCount(total, 'snippet')}</span></header><ul class="list">${shown.map((one) => row(list, one))}</ul>`;
  const shownOf = home === null && whose === 'public' ? whose : undefined;
  const form = searchForm({
    path: listPath,
    name: 'search',
    value: search ?? '',
    label: 'Search titles and file names',
    keep: { of: shownOf },
  });
  return view(
    'Snippets',
    html`<div class="row between"><h1>Snippets</h1>${fresh}</div>
${home === null && call.signedIn && whoseTabs(list, whose, search)}
${form}
<section class="card" aria-label="Snippets">${rows}</section>
${pagesNav({ path: listPath, query: { of: shownOf, search }, page: requested, total })}`,
    { hasHeading: true },
  );
};

/** Makes the page of a list. */
export const listPage = (routes: SnippetRoutes) =>
  page({
    method: 'GET',
    path: routes.list,
    audience: 'visitor',
    params: object({
      ...ownerParam,
      of: optional(oneOf(['own', 'public'])),
      search: optional(clearable(text())),
      ...pageParams,
    }),
    handle: async (visit, params) => await listView(visit, await routes.open(visit, params), params),
  });
