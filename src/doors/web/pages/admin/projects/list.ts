/** All projects of the instance, for administrators. */
import type { Static } from 'typebox';
import { visibilities } from '../../../../../identity/groups/rules.ts';
import { countProjects } from '../../../../instance/count_records.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import { listProjects } from '../../../../../projects/projects/lists/list.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { tabs } from '../../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { type View, type Visit, page } from '../../../page.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { type ListedProject, projectList } from '../../../parts/projects/project_list.ts';
import { searchForm } from '../../../parts/search_form.ts';
import { sortMenu } from '../../../parts/sort_menu.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import { omitEmpty } from '../../../../../platform/omit_empty.ts';

export const projectsPath = '/admin/projects';

const sortNames = {
  activity: 'Last activity',
  inactivity: 'Longest inactive',
  newest: 'Newest first',
  oldest: 'Oldest first',
  name: 'Name',
  stars: 'Most stars',
} as const;

type Sort = keyof typeof sortNames;

const sortParams = {
  activity: { order_by: 'last_activity_at', sort: 'desc' },
  inactivity: { order_by: 'last_activity_at', sort: 'asc' },
  newest: { order_by: 'created_at', sort: 'desc' },
  oldest: { order_by: 'created_at', sort: 'asc' },
  name: { order_by: 'name', sort: 'asc' },
  stars: { order_by: 'star_count', sort: 'desc' },
} as const satisfies Record<Sort, object>;

const filters = ['all', ...visibilities, 'archived'] as const;

type Filter = (typeof filters)[number];

const filterNames: Record<Filter, string> = {
  all: 'All',
  public: 'Public',
  internal: 'Internal',
  private: 'Private',
  archived: 'Archived',
};

const filterParams = (filter: Filter) => {
  if (filter === 'all') return {};
  return filter === 'archived' ? { archived: true } : { visibility: filter };
};

const listParams = object({
  search: optional(clearable(text())),
  filter: { ...oneOf(filters), default: 'all' as const },
  storage: optional(text()),
  sort: { ...oneOf(Object.keys(sortNames) as Sort[]), default: 'activity' as const },
  ...pageParams,
});

const administer = ({ id, path_with_namespace }: ListedProject): Html =>
  html`<a class="button small" href="${projectsPath}/${id}" aria-label="Administer ${path_with_namespace}">${icon('gauge')} Administer</a>`;

const listView = async (visit: Visit, listQuery: Static<typeof listParams>): Promise<View> => {
  const { call } = visit;
  const { filter, sort, storage } = listQuery;
  const search = listQuery.search ?? '';
  const requestedPage = pageRequest(listQuery);
  const { page: number, per_page } = requestedPage;
  const params = {
    search,
    page: number,
    per_page,
    ...(storage !== undefined && { repository_storage: storage }),
  };
  const [counts, { items, total }] = await Promise.all([
    countProjects(call.db),
    listProjects(call, { ...params, ...filterParams(filter), ...sortParams[sort] }),
  ]);
  const kept = { filter, storage, search: omitEmpty(search) };
  const links = filters.map((one) => {
    const query = new URLSearchParams({ filter: one, sort, ...(search !== '' && { search }) });
    const address = `${projectsPath}?${query.toString()}`;
    return { path: address, name: filterNames[one], count: counts[one], isHere: one === filter };
  });
  const content = html`<div class="row between">${searchForm({ path: projectsPath, name: 'search', value: search, label: 'Name or path', keep: { filter, sort, storage } })}${sortMenu({ path: projectsPath, query: kept, param: 'sort', chosen: sort, names: sortNames })}</div>
${tabs('Projects by visibility', links)}
<div class="card"><header><span class="muted">${spellCount(total, 'project')}${
    storage !== undefined && html` in storage ${storage}`
  }</span></header>${
    items.length === 0
      ? emptyState({ icon: 'folder', title: 'No projects' })
      : projectList(items as ListedProject[], { sideOf: administer })
  }</div>
${pagesNav({ path: projectsPath, query: { ...kept, sort }, page: requestedPage, total })}`;
  return adminView({ path: projectsPath, title: 'Projects' }, content);
};

export const listPages = [
  page({ method: 'GET', path: projectsPath, audience: 'admin', params: listParams, handle: listView }),
];
