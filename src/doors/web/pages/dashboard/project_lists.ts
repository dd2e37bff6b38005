/** Lists of projects: the user's projects, starred projects, and all projects to explore. */
import { sql } from 'kysely';
import { loadLastPipelinesOfProjects } from '../../../../code/repository/statuses/last_pipelines.ts';
import { shownStatus } from '../../../../code/repository/statuses/pipeline_summary.ts';
import { may } from '../../../../core/access/may.ts';
import { getMemberLevel } from '../../../../core/access/viewer.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { type Project, projectsById } from '../../../../projects/projects/find.ts';
import { countOpenIssues } from '../../../../projects/projects/related/count_open_issues.ts';
import { listProjects } from '../../../../projects/projects/lists/list.ts';
import { type Page, type View, type Visit, page } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type ListedProject, projectList } from '../../parts/projects/project_list.ts';
import { hidden, input, select } from '../../parts/form.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { nameRole } from '../../parts/projects/role.ts';
import { searchForm } from '../../parts/search_form.ts';
import { sortMenu } from '../../parts/sort_menu.ts';
import { statusBadge } from '../../parts/status_badge.ts';
import { type Order, orderNames, orderParam, readOrder } from '../projects/list_orders.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

/** Renders the last pipeline of each project, for users as a link to its page, with one query for all. */
export const pipelineBadges = async (
  { call }: Visit,
  projects: readonly Project[],
): Promise<(project: { id: number }) => Html | null> => {
  const pipelines = await loadLastPipelinesOfProjects(call, projects);
  const paths = new Map(projects.map(({ id, full_path }) => [id, full_path]));
  return ({ id }) => {
    const pipeline = pipelines.get(id);
    if (pipeline === undefined) return null;
    const badge = statusBadge(shownStatus(pipeline.status));
    return call.signedIn
      ? html`<a href="/${paths.get(id)}/-/pipelines/${pipeline.id}" title="Last pipeline">${badge}</a>`
      : badge;
  };
};

/** Like `pipelineBadges`, for projects as the API lists them. */
export const badgesOfListed = async (visit: Visit, projects: readonly ListedProject[]) => {
  const rows = await projectsById(
    visit.call.db,
    projects.map(({ id }) => id),
  );
  return await pipelineBadges(visit, [...rows.values()]);
};

const places = {
  '/dashboard/projects': { title: 'Your projects', filters: { membership: true } },
  '/dashboard/starred': { title: 'Starred projects', filters: { starred: true } },
  '/explore': { title: 'Explore projects', filters: {} },
} as const;

type Path = keyof typeof places;

/** Id of the list, which the script filters while a name is typed. */
const listId = 'listed-projects';

/** Renders links to the lists of projects and groups. */
export const listTabs = (
  { call }: Visit,
  path: Path | '/explore/groups' | '/explore/projects/topics',
): Html => {
  const own: readonly (readonly [string, string])[] = call.signedIn
    ? [
        ['/dashboard/projects', 'Yours'],
        ['/dashboard/starred', 'Starred'],
      ]
    : [];
  const links = [
    ...own,
    ['/explore', 'Explore'] as const,
    ['/explore/groups', 'Groups'] as const,
    ['/explore/projects/topics', 'Topics'] as const,
  ]
    .filter(([one]) => call.platform.hasPage(`GET ${one}`))
    .map(([one, name]) => ({ path: one, name, isHere: one === path }));
  return tabs('Lists of projects and groups', links);
};

const visibilities = ['private', 'internal', 'public'] as const;
type Visibility = (typeof visibilities)[number];
const archivedWords = ['without', 'only'] as const;
type Archived = (typeof archivedWords)[number];

type PageQuery = {
  search?: string | undefined;
  topic?: string | undefined;
  visibility?: Visibility | null | undefined;
  archived?: Archived | null | undefined;
  sort: Order;
  page?: number;
  per_page?: number;
};

/** Over `projects`: what everybody, or every user, may see. */
const isOpen = sql<boolean>`projects.visibility in ('public', 'internal')`;

const noneOf = (path: Path, isFiltered: boolean): Html => {
  if (isFiltered) return emptyState({ icon: 'search', title: 'No results', text: 'No project matches.' });
  if (path === '/dashboard/starred') {
    return emptyState({
      icon: 'star',
      title: 'No starred projects',
      text: 'Star a project to find it here.',
    });
  }
  return path === '/explore'
    ? emptyState({ icon: 'globe', title: 'No public projects' })
    : emptyState({
        icon: 'folder',
        title: 'You are in no project yet',
        action: html`<a class="button primary" href="/projects/new">New project</a>`,
      });
};

const isChosen = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;

/** Renders the search, and for users the choices that narrow the list. */
const filterForm = (
  { call }: Visit,
  path: Path,
  { search = '', topic = '', visibility, archived, sort }: PageQuery,
): Html => {
  const keep = { sort, topic: omitEmpty(topic) };
  if (!call.signedIn)
    return searchForm({ path, name: 'search', value: search, label: 'Search by name', keep });
  return html`<form method="get" action="${path}" class="filter">${Object.entries(keep).map(
    ([name, value]) => value !== undefined && hidden(name, value),
  )}${input({ name: 'search', label: 'Name', value: search, autocomplete: 'off', filters: `#${listId} > *` })}${select(
    {
      name: 'visibility',
      label: 'Visibility',
      value: visibility ?? '',
      options: [
        ['', 'Any'],
        ['private', 'Private'],
        ['internal', 'Internal'],
        ['public', 'Public'],
      ],
    },
  )}${select({
    name: 'archived',
    label: 'Archived',
    value: archived ?? '',
    options: [
      ['', 'Included'],
      ['without', 'Without'],
      ['only', 'Only'],
    ],
  })}<div class="buttons"><button>Filter</button></div></form>`;
};

/** Renders role, open work and last pipeline of each project. */
const sideOfListed = async (visit: Visit, projects: readonly ListedProject[]) => {
  const { call } = visit;
  const rows = await projectsById(
    call.db,
    projects.map(({ id }) => id),
  );
  const badgeOf = await pipelineBadges(visit, [...rows.values()]);
  return ({ id }: { id: number }): Html | null => {
    const project = rows.get(id);
    if (project === undefined) return null;
    const level = getMemberLevel(call.viewer, project);
    const issues = countOpenIssues(call.viewer, project);
    return html`${level > 0 && html`<span class="badge">${nameRole(level)}</span>`}${
      may(call.viewer, 'read_issue', project) &&
      html`<a class="row tight" href="${projectPagePath(project, 'issues')}" title="Open issues">${icon('issue', 'Open issues')} ${issues}</a>`
    }${
      may(call.viewer, 'read_merge_request', project) &&
      html`<a class="row tight" href="${projectPagePath(project, 'merge_requests')}" title="Open merge requests">${icon('merge-request', 'Open merge requests')} ${project.opened_merge_requests}</a>`
    }${badgeOf(project)}`;
  };
};

const listView = async (visit: Visit, path: Path, query: PageQuery): Promise<View> => {
  const { search = '', topic = '', visibility, archived, sort, ...paging } = query;
  const { title, filters } = places[path];
  const params = {
    ...filters,
    ...readOrder(sort),
    search,
    ...(topic !== '' && { topic: [topic] }),
    ...(isChosen(visibility) && { visibility }),
    ...(isChosen(archived) && { archived: archived === 'only' }),
    ...pageRequest(paging),
  };
  const { items, total } = await listProjects(visit.call, params, path === '/explore' ? isOpen : undefined);
  const projects = items as ListedProject[];
  const kept = {
    search: omitEmpty(search),
    topic: omitEmpty(topic),
    visibility: visibility ?? undefined,
    archived: archived ?? undefined,
  };
  const isFiltered = Object.values(kept).some((value) => value !== undefined);
  const list =
    projects.length === 0
      ? noneOf(path, isFiltered)
      : projectList(projects, { id: listId, sideOf: await sideOfListed(visit, projects) });
  return {
    title,
    ...(path === '/explore' && { preview: { description: 'Public projects of this Gantry instance' } }),
    body: html`<div class="row between"><h1>${title}</h1>${
      visit.call.signedIn &&
      html`<span class="row tight"><a class="button" href="/projects/import">${icon('download')} Import project</a><a class="button primary" href="/projects/new">${icon('plus')} New project</a></span>`
    }</div>
${listTabs(visit, path)}
<div class="row between">${filterForm(visit, path, query)}
${topic !== '' && html`<a class="badge" href="${path}" aria-label="Remove the filter by topic ${topic}">Topic: ${topic} ${icon('cross')}</a>`}${sortMenu({ path, query: kept, param: 'sort', chosen: sort, names: orderNames })}</div>
<section class="card" aria-label="Projects"><header><span class="muted">${spellCount(total, 'project')}</span></header>${list}</section>
${pagesNav({ path, query: { ...kept, sort }, page: pageRequest(paging), total })}`,
  };
};

const listPage = (path: Path, audience: Page['audience']) =>
  page({
    method: 'GET',
    path,
    audience,
    params: object({
      search: optional(text()),
      topic: optional(text()),
      visibility: optional(clearable(oneOf(visibilities))),
      archived: optional(clearable(oneOf(archivedWords))),
      sort: orderParam,
      ...pageParams,
    }),
    handle: async (visit, query) => await listView(visit, path, query),
  });

export const projectListPages = [
  listPage('/dashboard/projects', 'user'),
  listPage('/dashboard/starred', 'user'),
  listPage('/explore', 'visitor'),
];
