/** Topics of the instance, and the projects of one. */
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { listProjects } from '../../../../projects/projects/lists/list.ts';
import { type TopicRow, findTopicByName, listTopics } from '../../../../projects/topics/queries.ts';
import { type View, type Visit, page } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type ListedProject, projectList } from '../../parts/projects/project_list.ts';
import { topicPath } from '../../parts/projects/topic_links.ts';
import { searchForm } from '../../parts/search_form.ts';
import { sortMenu } from '../../parts/sort_menu.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { badgesOfListed, listTabs } from '../dashboard/project_lists.ts';
import { type Order, orderNames, orderParam, readOrder } from '../projects/list_orders.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

const listPath = '/explore/projects/topics';

const picture = ({ call }: Visit, topic: TopicRow, size: 'medium' | 'large'): Html =>
  avatar({
    name: topic.title,
    avatar_url: uploadedAvatarUrl(call, 'projects/topic', topic),
    size,
    isSquare: true,
  });

const topicItem = (visit: Visit, topic: TopicRow): Html =>
  html`<li><span class="lead">${picture(visit, topic, 'medium')}</span>
<span class="row tight"><a class="title" href="${topicPath(topic.name)}">${topic.title}</a>${
    topic.title !== topic.name && html`<span class="muted">${topic.name}</span>`
  }</span>
<span class="meta">${topic.description !== null && html`<span class="clamp">${topic.description}</span>`}</span>
<span class="side"><span>${spellCount(topic.total_projects_count, 'project')}</span></span></li>
`;

const emptyList = (search: string): Html =>
  search === ''
    ? emptyState({ icon: 'tag', title: 'No topics', text: 'Add topics to a project in its settings.' })
    : emptyState({ icon: 'search', title: 'No topics match', text: 'Try other words.' });

const listView = async (visit: Visit, search: string, at: PageRequest): Promise<View> => {
  const { items, total } = await listTopics(visit.call, { search }, at);
  const title = 'Explore topics';
  return {
    title,
    preview: { description: title },
    body: html`<h1>${title}</h1>
${listTabs(visit, listPath)}
${searchForm({ path: listPath, name: 'search', value: search, label: 'Search topics' })}
<section class="card" aria-label="Topics"><header><span class="muted">${spellCount(total, 'topic')}</span></header>${
      items.length === 0
        ? emptyList(search)
        : html`<ul class="list">${items.map((topic) => topicItem(visit, topic))}</ul>`
    }</section>
${pagesNav({ path: listPath, query: { search: omitEmpty(search) }, page: at, total })}`,
  };
};

type Query = { search: string; sort: Order };

const topicView = async (
  visit: Visit,
  name: string,
  { search, sort }: Query,
  at: PageRequest,
): Promise<View> => {
  const topic = await findTopicByName(visit.call, name);
  const path = topicPath(topic.name);
  const { items, total } = await listProjects(visit.call, {
    ...readOrder(sort),
    search,
    topic_id: topic.id,
    ...at,
  });
  const projects = items as ListedProject[];
  const kept = omitEmpty(search);
  const list =
    projects.length === 0
      ? emptyState({ icon: 'folder', title: 'No projects' })
      : projectList(projects, { sideOf: await badgesOfListed(visit, projects) });
  return {
    title: `Topic: ${topic.title}`,
    preview: { description: topic.description ?? `Projects about ${topic.title}` },
    body: html`<div class="row">${picture(visit, topic, 'large')}<div><h1>${topic.title}</h1><p class="muted">${
      topic.title !== topic.name && html`${topic.name} · `
    }<a href="${listPath}">All topics</a></p></div></div>
${topic.description !== null && html`<p class="lines">${topic.description}</p>`}
<div class="row between">${searchForm({ path, name: 'search', value: search, label: 'Search by name', keep: { sort } })}${sortMenu(
      { path, query: { search: kept }, param: 'sort', chosen: sort, names: orderNames },
    )}</div>
<section class="card" aria-label="Projects"><header><span class="muted">${spellCount(total, 'project')}</span></header>${list}</section>
${pagesNav({ path, query: { search: kept, sort }, page: at, total })}`,
  };
};

export const pages = [
  page({
    method: 'GET',
    path: listPath,
    audience: 'visitor',
    params: object({ search: optional(text()), ...pageParams }),
    handle: async (visit, { search = '', ...paged }) => await listView(visit, search, pageRequest(paged)),
  }),
  page({
    method: 'GET',
    path: `${listPath}/:name`,
    audience: 'visitor',
    params: object({ name: text(), search: optional(text()), sort: orderParam, ...pageParams }),
    handle: async (visit, { name, search = '', sort, ...paged }) =>
      await topicView(visit, name, { search, sort }, pageRequest(paged)),
  }),
];
