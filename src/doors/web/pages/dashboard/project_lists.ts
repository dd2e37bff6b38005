/** Lists of projects: those of the user, starred ones, and all that may be explored. */
import { sql } from 'kysely';
import { loadLastPipelinesOfProjects } from '../../../../code/repository/statuses/last_pipelines.ts';
import { shownStatus } from '../../../../code/repository/statuses/pipeline_summary.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { type Project, projectsById } from '../../../../projects/projects/find.ts';
import { listProjects } from '../../../../projects/projects/lists/list.ts';
import { type Page, type View, type Visit, page } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type ListedProject, projectList } from '../../parts/projects/project_list.ts';
import { searchForm } from '../../parts/search_form.ts';
import { sortMenu } from '../../parts/sort_menu.ts';
import { statusBadge } from '../../parts/status_badge.ts';
import { type Order, orderNames, orderParam, readOrder } from '../projects/list_orders.ts';
import { spellCount } from '../../parts/spell_count.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

/** Renders the last pipeline of each project as a link, with one query for all. */
export const pipelineBadges = async (
  { call }: Visit,
  projects: readonly Project[],
): Promise<(project: { id: number }) => Html | null> => {
  const pipelines = await loadLastPipelinesOfProjects(call, projects);
  const paths = new Map(projects.map(({ id, full_path }) => [id, full_path]));
  return ({ id }) => {
    const pipeline = pipelines.get(id);
    return pipeline === undefined
      ? null
      : html`<a href="/${paths.get(id)}/-/pipelines/${pipeline.id}" title="Last pipeline">${statusBadge(shownStatus(pipeline.status))}</a>`;
  };
};

/** As `pipelineBadges`, for projects as the API lists them. */
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

type PageQuery = {
  search?: string | undefined;
  topic?: string | undefined;
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

const listView = async (visit: Visit, path: Path, query: PageQuery): Promise<View> => {
  const { search = '', topic = '', sort, ...paging } = query;
  const { title, filters } = places[path];
  const params = {
    ...filters,
    ...readOrder(sort),
    search,
    ...(topic !== '' && { topic: [topic] }),
    ...pageRequest(paging),
  };
  const { items, total } = await listProjects(visit.call, params, path === '/explore' ? isOpen : undefined);
  const projects = items as ListedProject[];
  const [kept, keptTopic] = [search, topic].map((value) => omitEmpty(value));
  const list =
    projects.length === 0
      ? noneOf(path, search !== '' || topic !== '')
      : projectList(projects, { sideOf: await badgesOfListed(visit, projects) });
  return {
    title,
    ...(path === '/explore' && { preview: { description: 'Public projects of this Gantry instance' } }),
    body: html`<div class="row between"><h1>${title}</h1>${
      visit.call.signedIn &&
      html`<a class="button primary" href="/projects/new">${icon('plus')} New project</a>`
    }</div>
${listTabs(visit, path)}
<div class="row between">${searchForm({ path, name: 'search', value: search, label: 'Search by name', keep: { sort, topic: keptTopic } })}
${topic !== '' && html`<a class="badge" href="${path}" aria-label="Remove the filter by topic ${topic}">Topic: ${topic} ${icon('cross')}</a>`}${sortMenu({ path, query: { search: kept, topic: keptTopic }, param: 'sort', chosen: sort, names: orderNames })}</div>
<section class="card" aria-label="Projects"><header><span class="muted">${spellCount(total, 'project')}</span></header>${list}</section>
${pagesNav({ path, query: { search: kept, topic: keptTopic, sort }, page: pageRequest(paging), total })}`,
  };
};

const listPage = (path: Path, audience: Page['audience']) =>
  page({
    method: 'GET',
    path,
    audience,
    params: object({ search: optional(text()), topic: optional(text()), sort: orderParam, ...pageParams }),
    handle: async (visit, query) => await listView(visit, path, query),
  });

export const projectListPages = [
  listPage('/dashboard/projects', 'user'),
  listPage('/dashboard/starred', 'user'),
  listPage('/explore', 'visitor'),
];
