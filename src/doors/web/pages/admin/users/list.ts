/** The list of users for administrators. */
import type { Static } from 'typebox';
import { basicUser } from '../../../../../identity/users/json.ts';
import { type UserCounts, countUsers } from '../../../../../identity/users/counts.ts';
import { selectUsers } from '../../../../../identity/users/list.ts';
import type { UserRow } from '../../../../../identity/users/queries.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import { avatar } from '../../../parts/avatar.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { relative } from '../../../parts/timestamp.ts';
import { tabs } from '../../../parts/frame/tabs_and_side_nav.ts';
import { type View, type Visit, page } from '../../../page.ts';
import { searchForm } from '../../../parts/search_form.ts';
import { sortMenu } from '../../../parts/sort_menu.ts';
import { adminListView } from '../admin_list.ts';
import { userBadges } from './badges.ts';
import { omitEmpty } from '../../../../../platform/omit_empty.ts';

export const usersPath = '/admin/users';

const filters = ['active', 'blocked', 'admins', 'external', 'two_factor_disabled', 'all'] as const;

type Filter = (typeof filters)[number];

const filterNames: Record<Filter, readonly [name: string, count: keyof UserCounts]> = {
  active: ['Active', 'active'],
  admins: ['Administrators', 'admins'],
  two_factor_disabled: ['Two-factor off', 'without_two_factor'],
  external: ['External', 'external'],
  blocked: ['Blocked', 'blocked'],
  all: ['All', 'all'],
};

/** The parameters of the list of users by filter. */
const filterParams: Record<Filter, object> = {
  active: { active: true },
  blocked: { blocked: true },
  admins: { admins: true },
  external: { external: true },
  two_factor_disabled: { two_factor: 'disabled', active: true },
  all: {},
};

const sorts = ['newest', 'oldest', 'name', 'username', 'updated', 'active'] as const;

type Sort = (typeof sorts)[number];

const sortNames: Record<Sort, string> = {
  newest: 'Newest first',
  oldest: 'Oldest first',
  name: 'Name',
  username: 'User name',
  updated: 'Last updated',
  active: 'Last active',
};

const sortParams = {
  newest: { order_by: 'created_at', sort: 'desc' },
  oldest: { order_by: 'created_at', sort: 'asc' },
  name: { order_by: 'name', sort: 'asc' },
  username: { order_by: 'username', sort: 'asc' },
  updated: { order_by: 'updated_at', sort: 'desc' },
  active: { order_by: 'last_activity_on', sort: 'desc' },
} as const satisfies Record<Sort, object>;

const listParams = object({
  filter: { ...oneOf(filters), default: 'active' as const },
  search: optional(clearable(text())),
  sort: { ...oneOf(sorts), default: 'newest' as const },
  ...pageParams,
});

type PageQuery = Static<typeof listParams>;

const lastSeen = ({ last_activity_on: day }: UserRow): string =>
  day === null ? 'never active' : `last active on ${day}`;

const line = (visit: Visit, user: UserRow): Html => {
  const { name, avatar_url } = basicUser(user, visit.call);
  return html`<li><span class="lead">${avatar({ name, avatar_url, size: 'medium' })}</span>
<span class="row tight"><a class="title" href="${usersPath}/${user.id}">${name}</a>${userBadges(user)}</span>
<span class="meta"><span>@${user.username} · ${user.email} · created ${relative(user.created_at)} · ${lastSeen(user)}</span></span>
<span class="side"><a class="button small" href="${usersPath}/${user.id}/edit" aria-label="Edit ${user.username}">${icon('pencil')} Edit</a></span></li>
`;
};

const filterTabs = (counts: UserCounts, { filter, search }: PageQuery): Html =>
  tabs(
    'Users by state',
    Object.entries(filterNames).map(([value, [name, count]]) => {
      const query = new URLSearchParams({
        filter: value,
        ...((search ?? '') !== '' && { search: search ?? '' }),
      });
      return {
        path: `${usersPath}?${query.toString()}`,
        name,
        count: counts[count],
        isHere: value === filter,
      };
    }),
  );

const listView = async (visit: Visit, query: PageQuery): Promise<View> => {
  const { db } = visit.call;
  const search = query.search ?? '';
  const requestedPage = pageRequest(query);
  const params = { ...filterParams[query.filter], ...sortParams[query.sort], search };
  const [counts, { rows, total }] = await Promise.all([
    countUsers(db),
    selectUsers(db, params, { ...requestedPage, admin: true }),
  ]);
  const kept = { filter: query.filter, search: omitEmpty(search) };
  return adminListView({
    path: usersPath,
    title: 'Users',
    head: html`${searchForm({
      path: usersPath,
      name: 'search',
      value: search,
      label: 'Name, user name or whole e-mail address',
      keep: { filter: query.filter, sort: query.sort },
    })}${sortMenu({ path: usersPath, query: kept, param: 'sort', chosen: query.sort, names: sortNames })}
<a class="button primary" href="${usersPath}/new">${icon('plus')} New user</a>`,
    tabs: filterTabs(counts, query),
    noun: 'user',
    rows: rows.map((user) => line(visit, user)),
    empty: { icon: 'users', title: 'No users', text: 'No user matches the filter.' },
    paging: { query: { ...kept, sort: query.sort }, page: requestedPage, total },
  });
};

export const listPages = [
  page({ method: 'GET', path: usersPath, audience: 'admin', params: listParams, handle: listView }),
];
