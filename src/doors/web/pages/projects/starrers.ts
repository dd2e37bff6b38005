/** Lists the users who starred a project. */
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { listStarrers } from '../../../../projects/starrers/list.ts';
import { page } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { relative } from '../../parts/timestamp.ts';
import { pagesNav } from '../../parts/paging.ts';
import { userLink } from '../../parts/user_link.ts';
import { searchForm } from '../../parts/search_form.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

type Starrer = {
  starred_since: string;
  user: { name: string; username: string; avatar_url: string | null };
};

const item = ({ user, starred_since }: Starrer): Html =>
  html`<li class="row between">${userLink(user, { size: 'medium' })}<span class="muted">Starred ${relative(Date.parse(starred_since))}</span></li>
`;

const none = (search: string): Html =>
  search === ''
    ? emptyState({ icon: 'star', title: 'Nobody starred this project yet' })
    : emptyState({ icon: 'search', title: 'No results', text: 'Nobody with this name starred the project.' });

export const starrerPages = [
  page({
    method: 'GET',
    path: `${projectRoot}/starrers`,
    audience: 'visitor',
    params: object({ ...projectPath, search: optional(text()), ...pageParams }),
    handle: async (visit, { project: path, search = '', ...query }) => {
      const project = await findProject(visit.call, path);
      const { items, total } = await listStarrers(visit.call, project.id, { search, ...query });
      const list = projectPagePath(project, 'starrers');
      const body = html`<div class="row between"><h1>Starrers <span class="count">${total}</span></h1>
${searchForm({ path: list, name: 'search', value: search, label: 'Search by name' })}</div>
<section class="card">${
        items.length === 0
          ? none(search)
          : html`<ul class="list people">${(items as Starrer[]).map(item)}</ul>`
      }</section>
${pagesNav({ path: list, query: { search: omitEmpty(search) }, page: pageRequest(query), total })}`;
      return projectView(visit, { project, title: 'Starrers', noun: 'starrers', hasHeading: true }, body);
    },
  }),
];
