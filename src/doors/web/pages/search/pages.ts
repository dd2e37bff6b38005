/** The page of searches: what the viewer sees of projects, code, commits, issues, merge requests, comments and more. */
import type { Static } from 'typebox';
import { Failure } from '../../../../platform/errors.ts';
import { type Page, pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, idOrPath, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { type Place, findPlace } from '../../../search/search_place.ts';
import { type ScopeName, listScopes, searchScopes } from '../../../search/all_scopes.ts';
import { type View, type Visit, page } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../parts/html.ts';
import type { IconName } from '../../parts/icon.ts';
import { pagesNav } from '../../parts/paging.ts';
import { renderers } from './results.ts';
import { type Filters, filterParams, filterQuery, readFilters, searchForm } from './search_filters.ts';

const searchPath = '/search';

type Tab = { scope: ScopeName; name: string; icon: IconName; isOpen?: true; isCostly?: true };

/**
 * `isOpen`: for anonymous visitors, too, as the lists of these records. `isCostly`: git reads the repository for it, or
 * the database all comments, so that it is only counted when it is shown.
 */
const allTabs: readonly Tab[] = [
  { scope: 'projects', name: 'Projects', icon: 'folder', isOpen: true },
  { scope: 'blobs', name: 'Code', icon: 'file', isOpen: true },
  { scope: 'commits', name: 'Commits', icon: 'commit', isCostly: true },
  { scope: 'issues', name: 'Issues', icon: 'issue' },
  { scope: 'merge_requests', name: 'Merge requests', icon: 'merge-request' },
  { scope: 'notes', name: 'Comments', icon: 'comment', isCostly: true },
  { scope: 'milestones', name: 'Milestones', icon: 'milestone' },
  { scope: 'snippet_titles', name: 'Snippets', icon: 'file' },
  { scope: 'users', name: 'People', icon: 'user' },
];

const tabsOf = ({ call }: Visit, { kind }: Place): Tab[] => {
  const scopes = listScopes(kind);
  return allTabs.filter(({ scope, isOpen }) => scopes.includes(scope) && (call.signedIn || isOpen === true));
};

/** The parameters that name the place. */
const placeQuery = (place: Place): Record<string, string> => {
  if (place.kind === 'everywhere') return {};
  return place.kind === 'groups'
    ? { group_id: String(place.group.id) }
    : { project_id: String(place.project.id) };
};

const addressOf = (query: Record<string, string>): string =>
  `${searchPath}?${new URLSearchParams(query).toString()}`;

/** Names the searched project or group, with a link to search everything. */
const placePart = (place: Place, query: Record<string, string>): Html | null => {
  if (place.kind === 'everywhere') return null;
  const { full_path } = place.kind === 'groups' ? place.group : place.project;
  const noun = place.kind === 'groups' ? 'group' : 'project';
  const home = place.kind === 'groups' ? `/groups/${full_path}` : `/${full_path}`;
  return html`<p>In the ${noun} <a href="${home}">${full_path}</a>. <a href="${addressOf(query)}">Search everywhere</a></p>`;
};

type Search = { visit: Visit; place: Place; search: string; filters: Filters };

/** @throws Failure 400 for a search that the scope refuses */
const run = async (
  { visit: { call }, place, search, filters }: Search,
  scope: ScopeName,
  request: ReturnType<typeof pageRequest>,
): Promise<Page<unknown>> => {
  const filter = { search, ...filters };
  return await searchScopes[scope].run({ call, place, filter, page: request });
};

/** Returns whether the scope refuses the search, or the named branch does not exist. */
const isRefused = (error: unknown, { filters }: Search): error is Failure =>
  error instanceof Failure &&
  (error.kind === 'bad_request' || (error.kind === 'not_found' && filters.ref !== undefined));

/** Counts the results of a tab; undefined if the scope refuses the search. */
const count = async (query: Search, scope: ScopeName): Promise<number | undefined> => {
  try {
    return (await run(query, scope, pageRequest({ per_page: 1 }))).total;
  } catch (error) {
    if (isRefused(error, query)) return undefined;
    throw error;
  }
};

const words = html`All words must occur. Use quotes for an exact phrase: <code>"two words"</code>.`;

/** Fields that the search of each tab compares, and its operators. */
const hints: { [scope in ScopeName]?: Html } = {
  projects: html`An exact phrase in the name or the full path.`,
  blobs: html`One text in the default branches. <code>filename:*.ts</code>, <code>path:src</code> and <code>extension:ts</code> limit the files.`,
  issues: html`Words of titles and descriptions. ${words} Filters such as <code>label:bug</code> are in the lists of issues.`,
  merge_requests: html`Words of titles and descriptions. ${words} Filters such as <code>reviewer:me</code> are in the lists of merge requests.`,
  commits: html`Words in commit messages on the branch.`,
  notes: html`An exact phrase in a comment on an issue, merge request or commit.`,
  snippet_titles: html`An exact phrase in the title or a file name.`,
  milestones: html`An exact phrase in the title or the description.`,
  users: html`An exact phrase in the name or the user name.`,
};

const hintPart = (scope: ScopeName): Html => html`<p class="hint">${hints[scope]}</p>`;

/** Lists what can be searched, and how, before anything is. */
const allHints = (shown: readonly Tab[]): Html =>
  html`<dl class="hint">${shown.map(({ scope, name }) => html`<dt>${name}</dt><dd>${hints[scope]}</dd>`)}</dl>`;

/** The results, or the reason why there are none. */
const resultsPart = async (
  query: Search,
  scope: ScopeName,
  request: ReturnType<typeof pageRequest>,
): Promise<{ content: Html; total: number }> => {
  try {
    const { items, total } = await run(query, scope, request);
    const empty = emptyState({ icon: 'search', title: 'No results', text: 'Try other words.' });
    const shown = await renderers[scope]?.(query.visit, items, query.search);
    return { content: items.length === 0 ? empty : (shown ?? empty), total };
  } catch (error) {
    if (!isRefused(error, query)) throw error;
    if (error.kind === 'not_found')
      return {
        content: emptyState({ icon: 'search', title: `No branch or tag is named “${query.filters.ref}”` }),
        total: 0,
      };
    const { message } = error.body as { message?: Record<string, string[]> };
    const [why = 'cannot be searched'] = Object.values(message ?? {}).flat();
    return { content: emptyState({ icon: 'search', title: `The search ${why}` }), total: 0 };
  }
};

type Counts = ReadonlyMap<ScopeName, number | undefined>;

/** True if a tab is counted although it is not shown. */
const isCounted = ({ scope, isCostly }: Tab, { filters }: Search): boolean =>
  isCostly !== true && !(scope === 'blobs' && filters.ref !== undefined);

const countTabs = async (
  query: Search,
  shown: readonly Tab[],
  requested: ScopeName | undefined,
): Promise<Counts> =>
  new Map(
    await Promise.all(
      shown.map(async (tab) => {
        const isShown = tab.scope === requested || isCounted(tab, query);
        return [tab.scope, isShown ? await count(query, tab.scope) : undefined] as const;
      }),
    ),
  );

/** The requested tab, or else the first with results. */
const chooseScope = (shown: readonly Tab[], requested: ScopeName | undefined, counts: Counts): ScopeName => {
  const chosen =
    shown.find(({ scope }) => scope === requested) ??
    shown.find(({ scope }) => (counts.get(scope) ?? 0) > 0) ??
    shown[0];
  return chosen?.scope ?? 'blobs';
};

const tabLinks = (shown: readonly Tab[], counts: Counts, { scope, ...query }: Record<string, string>): Html =>
  tabs(
    'Kinds of results',
    shown.map((tab) => ({
      path: addressOf({ ...query, scope: tab.scope }),
      name: tab.name,
      icon: tab.icon,
      isHere: tab.scope === scope,
      count: counts.get(tab.scope),
    })),
  );

const searchParams = object({
  search: optional(clearable(text({ maxLength: 1_000 }))),
  scope: optional(oneOf(allTabs.map(({ scope }) => scope))),
  project_id: optional(clearable(idOrPath('limits the search to a project'))),
  group_id: optional(clearable(idOrPath('limits the search to a group'))),
  ...filterParams,
  ...pageParams,
});

/** @throws Failure 404 for a hidden place */
const findSearchedPlace = async (
  { call }: Visit,
  projectId: number | string | null,
  groupId: number | string | null,
): Promise<Place> => {
  if (projectId !== null) return await findPlace(call, 'projects', projectId);
  return groupId === null ? { kind: 'everywhere' } : await findPlace(call, 'groups', groupId);
};

const searchView = async (visit: Visit, sent: Static<typeof searchParams>): Promise<View> => {
  const search = (sent.search ?? '').trim();
  const place = await findSearchedPlace(visit, sent.project_id ?? null, sent.group_id ?? null);
  const filters = readFilters(sent, place);
  const kept = { ...placeQuery(place), ...(sent.scope !== undefined && { scope: sent.scope }) };
  const isSignedIn = visit.call.signedIn;
  const head = html`<h1>Search</h1>
${searchForm(searchPath, { place, filters, isSignedIn }, { search, kept })}${placePart(place, search === '' ? {} : { search })}`;
  if (search === '') return { title: 'Search', body: html`${head}${allHints(tabsOf(visit, place))}` };
  const query = { visit, place, search, filters };
  const shown = tabsOf(visit, place);
  const counts = await countTabs(query, shown, sent.scope);
  const scope = chooseScope(shown, sent.scope, counts);
  const request = pageRequest(sent);
  const { content, total } = await resultsPart(query, scope, request);
  const shownQuery = { ...placeQuery(place), search, scope, ...filterQuery(filters) };
  return {
    title: `${search} · Search`,
    body: html`${head}${tabLinks(shown, counts, shownQuery)}
${hintPart(scope)}${content}
${pagesNav({ path: searchPath, query: shownQuery, page: request, total })}`,
  };
};

export const pages = [
  page({
    method: 'GET',
    path: searchPath,
    audience: 'visitor',
    params: searchParams,
    handle: searchView,
  }),
];
