/** Memberships of a user in projects and groups, for administrators. */
import {
  type Membership,
  listMemberships,
} from '../../../../../identity/users/memberships/list_memberships.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { nameRole } from '../../../parts/projects/role.ts';
import { page } from '../../../page.ts';
import { accessTable } from './access_table.ts';
import { loadChangeable } from './create_and_edit.ts';
import { usersPath } from './list.ts';
import { userView } from './user_page.ts';

const row = ({ source_type, full_path, access_level, expires_at }: Membership): Html => {
  const isProject = source_type === 'Project';
  const [home, members] = isProject
    ? [`/${full_path}`, `/${full_path}/-/project_members`]
    : [`/groups/${full_path}`, `/groups/${full_path}/-/group_members`];
  return html`<tr>
<th scope="row"><a href="${home}">${full_path}</a></th><td>${isProject ? 'Project' : 'Group'}</td>
<td>${nameRole(access_level)}</td><td>${expires_at ?? 'Never'}</td>
<td><a href="${members}" aria-label="Members of ${full_path}">Members</a></td>
</tr>
`;
};

export const membershipPages = [
  page({
    method: 'GET',
    path: `${usersPath}/:id/memberships`,
    audience: 'admin',
    params: object({ id: id(), ...pageParams }),
    handle: async (visit, { id: userId, ...query }) => {
      const user = await loadChangeable(visit, userId);
      const at = pageRequest(query);
      const { items, total } = await listMemberships(visit.call, user.id, at);
      const list =
        items.length === 0
          ? html`<div class="card">${emptyState({ icon: 'group', title: 'No memberships' })}</div>`
          : accessTable(
              'Memberships',
              ['Project or group', 'Kind', 'Role', 'Expires', 'Manage'],
              items.map(row),
            );
      const content = html`<p>Direct memberships. Members of a group also have their role in its subgroups and projects.</p>
${list}
${pagesNav({ path: `${usersPath}/${user.id}/memberships`, query: {}, page: at, total })}`;
      return userView(visit, { user, tab: 'memberships', title: `Memberships of ${user.name}` }, content);
    },
  }),
];
