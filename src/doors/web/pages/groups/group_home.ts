/** The page of a group: its description, and its subgroups and projects as one list. */
import { sql } from 'kysely';
import type { Call } from '../../../../core/access/call.ts';
import { uploadedAvatarUrl } from '../../../../identity/avatars/avatar_urls.ts';
import { type Group, findGroup } from '../../../../identity/groups/find.ts';
import { groupJson } from '../../../../identity/groups/json.ts';
import { listGroups } from '../../../../identity/groups/list.ts';
import { selectDescendants } from '../../../../identity/namespaces/ancestors.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { boolean, clearable, object, optional, text } from '../../../../platform/http/schema.ts';
import { countGroupContents } from '../../../../projects/projects/lists/group_contents.ts';
import { loadSetting } from '../../../../projects/notification_settings/queries.ts';
import { listProjects } from '../../../../projects/projects/lists/list.ts';
import { type View, type Visit, page } from '../../page.ts';
import { avatar } from '../../parts/avatar.ts';
import { emptyState } from '../../parts/empty_state.ts';
import {
  canCreateProject,
  canCreateSubgroup,
  newProjectPath,
  newSubgroupPath,
} from '../../parts/frame/create_in_group.ts';
import { groupView } from '../../parts/frame/group_layout.ts';
import { tabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { shortenText } from '../../parts/shorten_text.ts';
import { notificationMenu } from '../../parts/notification_menu.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type ListedProject, projectList } from '../../parts/projects/project_list.ts';
import { searchForm } from '../../parts/search_form.ts';
import { sortMenu } from '../../parts/sort_menu.ts';
import { groupRoot } from '../../project_and_group_pages.ts';
import { type Order, orderNames, orderParam, readOrder } from '../projects/list_orders.ts';
import { groupList, spellContents } from './group_list.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

type Query = { search: string; sort: Order; archived: boolean };

const defaultOrder: Order = 'activity_desc';

/** Groups have no stars and no activity, so their lists are then sorted by name. */
const groupOrder = (order: Order) =>
  order.startsWith('created')
    ? ({ order_by: 'id', sort: order === 'created_asc' ? 'asc' : 'desc' } as const)
    : ({ order_by: 'name', sort: 'asc' } as const);

/**
 * Loads a page of a group's subgroups, then its projects: direct children, or for a search all descendants. Archived
 * projects are a separate list.
 */
const loadContents = async (
  call: Call,
  { id }: Group,
  { search, sort, archived }: Query,
  at: PageRequest,
) => {
  const { page: number, per_page, limit, offset } = at;
  const isDeep = search !== '' || archived;
  const below = selectDescendants(id);
  const paged = { page: number, per_page };
  const groupsIn = isDeep
    ? sql<boolean>`(namespaces.id <> ${id} and namespaces.id in ${below})`
    : sql<boolean>`namespaces.parent_id = ${id}`;
  const groups = archived
    ? { items: [], total: 0 }
    : await listGroups(call, { ...paged, all_available: true, search, ...groupOrder(sort) }, groupsIn, {
        limit,
        offset,
      });
  const projectsIn = isDeep
    ? sql<boolean>`projects.namespace_id in ${below}`
    : sql<boolean>`projects.namespace_id = ${id}`;
  const { items, total } = await listProjects(
    call,
    { ...paged, archived, search, search_namespaces: false, ...readOrder(sort) },
    projectsIn,
    { limit: limit - groups.items.length, offset: Math.max(0, offset - groups.total) },
  );
  const contents = await countGroupContents(
    call,
    groups.items.map((group) => group.id),
  );
  return { groups, contents, projects: { items: items as ListedProject[], total } };
};

const newButtons = (visit: Visit, group: Group): Html | null => {
  const mayAddGroup = canCreateSubgroup(visit, group);
  const mayAddProject = canCreateProject(visit, group);
  if (!mayAddGroup && !mayAddProject) return null;
  return html`<div class="buttons">${
    mayAddGroup && html`<a class="button" href="${newSubgroupPath(group)}">${icon('group')} New subgroup</a>`
  }${
    mayAddProject &&
    html`<a class="button primary" href="${newProjectPath(group)}">${icon('plus')} New project</a>`
  }</div>`;
};

/** Renders the menu of the viewer's notification level; null if they are not signed in. */
const levelMenu = async (visit: Visit, { id, full_path }: Group): Promise<Html | null> => {
  const { actor, db } = visit.call;
  if (actor === null) return null;
  const { level } = await loadSetting(db, actor.user.id, { project_id: null, group_id: id });
  return notificationMenu(visit, {
    action: `/groups/${full_path}/-/notification_setting`,
    chosen: level,
    isLarge: true,
  });
};

const heading = async (visit: Visit, group: Group): Promise<Html> => {
  const { name, avatar_url } = await groupJson(visit.call, group);
  const { description } = group;
  return html`<div class="row between"><div class="row">${avatar({ name, avatar_url, size: 'large', isSquare: true })}<div><h1>${name}</h1>${
    description !== '' && html`<p class="lines muted">${description}</p>`
  }</div></div><div class="row">${await levelMenu(visit, group)}${newButtons(visit, group)}</div></div>`;
};

const bar = (path: string, { search, sort, archived }: Query): Html => {
  const kept = {
    archived: archived ? '1' : undefined,
    sort: sort === defaultOrder ? undefined : sort,
    search: omitEmpty(search),
  };
  return html`${tabs('Contents', [
    { path, name: 'Subgroups and projects', isHere: !archived },
    { path: `${path}?archived=1`, name: 'Archived projects', isHere: archived },
  ])}
<div class="row">${searchForm({
    path,
    name: 'search',
    value: search,
    label: 'Search this group and its subgroups',
    keep: { archived: kept.archived, sort: kept.sort },
  })}${sortMenu({
    path,
    query: { archived: kept.archived, search: kept.search },
    param: 'sort',
    chosen: sort,
    names: orderNames,
  })}</div>`;
};

const empty = (visit: Visit, group: Group, { search, archived }: Query): Html => {
  if (search !== '')
    return emptyState({ icon: 'search', title: 'Nothing matches', text: 'Try another search.' });
  if (archived) return emptyState({ icon: 'archive', title: 'No archived projects' });
  return emptyState({
    icon: 'group',
    title: 'This group is empty',
    text: 'Projects and subgroups appear here.',
    action: newButtons(visit, group),
  });
};

const homeView = async (visit: Visit, group: Group, query: Query, at: PageRequest): Promise<View> => {
  const path = `/groups/${group.full_path}`;
  const { groups, contents, projects } = await loadContents(visit.call, group, query, at);
  const total = groups.total + projects.total;
  const isEmpty = groups.items.length === 0 && projects.items.length === 0;
  const { search, sort, archived } = query;
  const sent = {
    search: omitEmpty(search),
    sort: sort === defaultOrder ? undefined : sort,
    archived: archived ? '1' : undefined,
  };
  const list = isEmpty
    ? empty(visit, group, query)
    : html`${groups.items.length > 0 && groupList(groups.items, contents)}${projects.items.length > 0 && projectList(projects.items)}`;
  const content = html`${await heading(visit, group)}
${bar(path, query)}
<section class="card" aria-label="Subgroups and projects"><header><span class="muted">${spellContents({ subgroups: groups.total, projects: projects.total })}</span></header>${list}</section>
${pagesNav({ path, query: sent, page: at, total })}`;
  const preview =
    group.visibility === 'public'
      ? {
          description: shortenText(group.description ?? '') || `The group ${group.name}`,
          image: uploadedAvatarUrl(visit.call, 'group', group),
        }
      : undefined;
  const view = preview === undefined ? {} : { preview };
  return groupView(visit, { group, title: group.name, noun: null, hasHeading: true, view }, content);
};

export const homePage = page({
  method: 'GET',
  path: groupRoot,
  audience: 'visitor',
  params: object({
    group: text({ maxLength: 1_000 }),
    search: optional(clearable(text())),
    sort: optional(clearable(orderParam)),
    archived: boolean({ default: false }),
    ...pageParams,
  }),
  handle: async (visit, { group: path, search, sort, archived, ...paged }) => {
    const group = await findGroup(visit.call, path);
    const query = { search: search ?? '', sort: sort ?? defaultOrder, archived };
    return await homeView(visit, group, query, pageRequest(paged));
  },
});
