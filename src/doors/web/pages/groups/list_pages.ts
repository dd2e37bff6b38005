/** Lists of groups: all groups that the visitor sees, and the groups they belong to. */
import { listGroups } from '../../../../identity/groups/list.ts';
import { mayCreateGroup } from '../../../../identity/groups/create.ts';
import { type PageRequest, pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { countGroupContents } from '../../../../projects/projects/lists/group_contents.ts';
import { type View, type Visit, page } from '../../page.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { pagesNav } from '../../parts/paging.ts';
import { searchForm } from '../../parts/search_form.ts';
import { sortMenu } from '../../parts/sort_menu.ts';
import { listTabs } from '../dashboard/project_lists.ts';
import { groupList } from './group_list.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

const orders = {
  name_asc: ['name', 'asc', 'Name'],
  created_desc: ['id', 'desc', 'Newest'],
  created_asc: ['id', 'asc', 'Oldest'],
} as const;

type Order = keyof typeof orders;

const orderNames = Object.fromEntries(Object.entries(orders).map(([order, [, , name]]) => [order, name]));

type List = { path: '/explore/groups' | '/dashboard/groups'; title: string; isOwn: boolean };

const explored: List = { path: '/explore/groups', title: 'Explore groups', isOwn: false };
const own: List = { path: '/dashboard/groups', title: 'Your groups', isOwn: true };

type Query = { search: string; sort: Order };

const heading = (visit: Visit, { title }: List): Html => {
  const { call } = visit;
  return html`<div class="row between"><h1>${title}</h1>${
    call.signedIn &&
    mayCreateGroup(call) &&
    html`<a class="button primary" href="/groups/new">${icon('plus')} New group</a>`
  }</div>
${listTabs(visit, '/explore/groups')}`;
};

const choice = ({ isOwn }: List): Html => {
  const tab = ({ path }: List, name: string, isHere: boolean): Html =>
    html`<a class="button" href="${path}"${isHere && html` aria-current="page"`}>${name}</a>`;
  return html`<nav class="segmented" aria-label="Groups">${tab(own, 'Yours', isOwn)}${tab(explored, 'All', !isOwn)}</nav>`;
};

const empty = (search: string, { isOwn }: List): Html => {
  if (search !== '')
    return emptyState({ icon: 'search', title: 'No groups match', text: 'Try another search.' });
  return isOwn
    ? emptyState({
        icon: 'group',
        title: 'You are not a member of any group yet',
        text: 'Groups hold projects that belong together.',
      })
    : emptyState({ icon: 'group', title: 'No groups' });
};

const listView = async (visit: Visit, list: List, query: Query, at: PageRequest): Promise<View> => {
  const { call } = visit;
  const { path, title, isOwn } = list;
  const { search, sort } = query;
  const [order_by, direction] = orders[sort];
  const { items, total } = await listGroups(call, {
    page: at.page,
    per_page: at.per_page,
    all_available: !isOwn,
    // A search finds subgroups, too.
    top_level_only: !isOwn && search === '',
    search,
    order_by,
    sort: direction,
  });
  const contents = await countGroupContents(
    call,
    items.map(({ id }) => id),
  );
  const sent = { search: omitEmpty(search), sort: sort === 'name_asc' ? undefined : sort };
  const body = html`${heading(visit, list)}
<div class="row">${call.signedIn && choice(list)}${searchForm({ path, name: 'search', value: search, label: 'Search groups', keep: { sort: sent.sort } })}${sortMenu(
    { path, query: { search: sent.search }, param: 'sort', chosen: sort, names: orderNames },
  )}</div>
<section class="card" aria-label="Groups"><header><span class="muted">${spellCount(total, 'group')}</span></header>${
    items.length === 0 ? empty(search, list) : groupList(items, contents)
  }</section>
${pagesNav({ path, query: sent, page: at, total })}`;
  return { title, body, ...(!isOwn && { preview: { description: title } }) };
};

const listPage = (list: List) =>
  page({
    method: 'GET',
    path: list.path,
    audience: list.isOwn ? 'user' : 'visitor',
    params: object({
      search: optional(clearable(text())),
      sort: optional(clearable(oneOf(Object.keys(orders) as Order[]))),
      ...pageParams,
    }),
    handle: async (visit, { search, sort, ...paged }) =>
      await listView(visit, list, { search: search ?? '', sort: sort ?? 'name_asc' }, pageRequest(paged)),
  });

export const listPages = [listPage(explored), listPage(own)];
