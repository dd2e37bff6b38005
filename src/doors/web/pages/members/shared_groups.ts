/** The groups with which a project or group is shared, on its page of members. */
import { isSharingLocked } from '../../../../identity/groups/inherited_options.ts';
import { type ListedShare, listShares } from '../../../../projects/members/list_shares.ts';
import { form, input } from '../../parts/form.ts';
import { noProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import type { Visit } from '../../page.ts';
import { type TriedGroup, roleFields } from './form.ts';
import type { MemberList } from './project_or_group_routes.ts';
import { nameRole } from '../../parts/projects/role.ts';

const inviteForm = (visit: Visit, list: MemberList, tried: TriedGroup | null): Html => {
  const { sent, problems } =
    tried?.groupId === null ? tried : { sent: {} as TriedGroup['sent'], problems: noProblems };
  return form(
    visit,
    { action: `${list.path}/groups`, submit: 'Invite group', problems },
    input({
      name: 'shared_group',
      label: 'Group',
      hint: 'Full path of the group. Includes members of its parent groups.',
      value: sent['shared_group'] ?? '',
      autocomplete: 'off',
      required: true,
      suggestions: { url: '/api/v4/groups?per_page=100', field: 'full_path', search: 'search' },
      problems,
    }),
    roleFields(list, {
      id: 'invited',
      name: 'group_access',
      label: 'Role at most',
      level: sent['group_access'] ?? '30',
      expires: sent['expires_at'] ?? '',
      problems,
    }),
  );
};

const shareForms = (
  visit: Visit,
  list: MemberList,
  { group_id, group_access, expires_at, full_path }: ListedShare,
  tried: TriedGroup | null,
): Html => {
  const refused = tried?.groupId === group_id ? tried : null;
  const { sent = {}, problems = noProblems } = refused ?? {};
  const path = `${list.path}/groups/${group_id}`;
  const named = full_path ?? 'the private group';
  const change = form(
    visit,
    { action: path, submit: 'Save', name: `Save ${named}`, problems },
    roleFields(list, {
      id: `group_${group_id}`,
      name: 'group_access',
      label: 'Role at most',
      level: sent['group_access'] ?? String(group_access),
      expires: sent['expires_at'] ?? expires_at ?? '',
      problems,
    }),
  );
  const removal = form(visit, {
    action: `${path}/remove`,
    submit: 'Stop sharing',
    name: `Stop sharing with ${named}`,
    danger: true,
  });
  return html`<details${refused !== null && html` open`}><summary>Edit<span class="visually-hidden"> ${named}</span></summary>
<div class="stack">${change}${removal}</div></details>`;
};

const line = (visit: Visit, list: MemberList, share: ListedShare, tried: TriedGroup | null): Html => {
  const { name, full_path, group_access, expires_at } = share;
  const title =
    full_path === null
      ? html`<span class="title">Private group</span>`
      : html`<a class="title" href="/groups/${full_path}/-/group_members">${name}</a>`;
  return html`<li>
<span class="lead">${icon('users')}</span>
${title}
<span class="meta"><span>${full_path ?? 'You do not see this group'}</span></span>
<span class="side">${expires_at !== null && html`<span>Until ${expires_at}</span>`}<strong>At most ${nameRole(group_access)}</strong></span>
${list.source.mayAdmin && shareForms(visit, list, share, tried)}</li>
`;
};

const invitePart = async (visit: Visit, list: MemberList, tried: TriedGroup | null): Promise<Html | null> => {
  const { source } = list;
  if (!source.mayAdmin) return null;
  if (await isSharingLocked(visit.call.db, source.namespace_id)) {
    return html`<p class="quiet">The settings of the group, or of a group above it, do not allow sharing with other groups.</p>`;
  }
  return html`<section class="card" aria-labelledby="invite_title"><header><h2 id="invite_title">Invite a group</h2></header>
<div class="body">${inviteForm(visit, list, tried)}</div></section>
<p class="quiet">Members get their group role, limited to the role you choose here.</p>`;
};

/** Renders the list, with its forms for users who administer members; null if there is nothing to show. */
export const sharedGroupsPart = async (
  visit: Visit,
  list: MemberList,
  tried: TriedGroup | null,
): Promise<Html | null> => {
  const allShares = await listShares(visit.call, list.source);
  // Groups that a user cannot see are listed only if the user can end the share.
  const shares = list.source.mayAdmin ? allShares : allShares.filter(({ full_path }) => full_path !== null);
  const invite = await invitePart(visit, list, tried);
  if (shares.length === 0) return invite;
  return html`<section class="card" aria-labelledby="groups_title"><header><h2 id="groups_title">Shared groups</h2></header>
<ul class="list">${shares.map((share) => line(visit, list, share, tried))}</ul></section>
${invite}`;
};
