/** All groups of the instance, for administrators. */
import type { Static } from 'typebox';
import { listGroups } from '../../../../../identity/groups/list.ts';
import { visibilities } from '../../../../../identity/groups/rules.ts';
import { countGroups } from '../../../../instance/count_records.ts';
import { type GroupSize, loadGroupSizes } from '../../../../../projects/members/group_sizes.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import { avatar } from '../../../parts/avatar.ts';
import { choiceTabs } from '../../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { relativeTo } from '../../../parts/timestamp.ts';
import { type View, type Visit, page } from '../../../page.ts';
import { visibilityMark } from '../../../parts/projects/project_list.ts';
import { searchForm } from '../../../parts/search_form.ts';
import { sortMenu } from '../../../parts/sort_menu.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { adminListView } from '../admin_list.ts';
import { omitEmpty } from '../../../../../platform/omit_empty.ts';

const path = '/admin/groups';

const sorts = ['newest', 'oldest', 'name', 'path'] as const;

const sortNames = { newest: 'Newest first', oldest: 'Oldest first', name: 'Name', path: 'Path' };

const sortParams = {
  newest: { order_by: 'id', sort: 'desc' },
  oldest: { order_by: 'id', sort: 'asc' },
  name: { order_by: 'name', sort: 'asc' },
  path: { order_by: 'path', sort: 'asc' },
} as const;

const listParams = object({
  search: optional(clearable(text())),
  visibility: optional(oneOf(visibilities)),
  sort: { ...oneOf(sorts), default: 'newest' as const },
  ...pageParams,
});

type Listed = {
  id: number;
  name: string;
  full_name: string;
  full_path: string;
  visibility: string;
  avatar_url: string | null;
  created_at: string;
};

const settingsLink = ({ call }: Visit, { full_path }: Listed): Html | null =>
  call.platform.hasPage('GET /-/groups/:group/settings')
    ? html`<a class="button small" href="/groups/${full_path}/-/settings" aria-label="Settings of ${full_path}">${icon('settings')} Settings</a>`
    : null;

const line = (visit: Visit, group: Listed, size: GroupSize): Html => html`<li><span class="lead">${avatar({
  name: group.name,
  avatar_url: group.avatar_url,
  size: 'medium',
  isSquare: true,
})}</span>
<span class="row tight"><a class="title" href="/groups/${group.full_path}">${group.full_name}</a>${visibilityMark(group.visibility)}</span>
<span class="meta"><span>${group.full_path} · ${spellCount(size.projects, 'project')} · ${spellCount(size.members, 'member')} · created ${relativeTo(group.created_at)}</span></span>
<span class="side">${settingsLink(visit, group)}</span></li>
`;

const names = { public: 'Public', internal: 'Internal', private: 'Private' };

const listView = async (visit: Visit, query: Static<typeof listParams>): Promise<View> => {
  const { call } = visit;
  const { visibility, sort } = query;
  const search = query.search ?? '';
  const requestedPage = pageRequest(query);
  const { page: number, per_page } = requestedPage;
  const filter = visibility === undefined ? {} : { visibility };
  const params = { all_available: true, search, page: number, per_page, ...filter, ...sortParams[sort] };
  const [counts, { items, total }] = await Promise.all([countGroups(call.db), listGroups(call, params)]);
  const groups = items as Listed[];
  const sizes = await loadGroupSizes(
    call.db,
    groups.map((group) => group.id),
    call.now,
  );
  const kept = { visibility, search: omitEmpty(search) };
  const canCreate = call.platform.hasPage('GET /groups/new');
  return adminListView({
    path,
    title: 'Groups',
    head: html`${searchForm({ path, name: 'search', value: search, label: 'Name or path', keep: { visibility, sort } })}${sortMenu({ path, query: kept, param: 'sort', chosen: sort, names: sortNames })}${
      canCreate && html`<a class="button primary" href="/groups/new">${icon('plus')} New group</a>`
    }`,
    tabs: choiceTabs({
      label: 'Groups by visibility',
      path,
      param: 'visibility',
      chosen: visibility,
      names,
      counts,
    }),
    noun: 'group',
    rows: groups.map((group) => line(visit, group, sizes.get(group.id) ?? { projects: 0, members: 0 })),
    empty: { icon: 'group', title: 'No groups' },
    paging: { query: { ...kept, sort }, page: requestedPage, total },
  });
};

export const groupPages = [
  page({ method: 'GET', path, audience: 'admin', params: listParams, handle: listView }),
];
