/** The list of members of a project or group. */
import { sql } from 'kysely';
import { requireUser } from '../../../../core/access/call.ts';
import { isMembershipLocked } from '../../../../identity/groups/inherited_options.ts';
import { visibleGroups } from '../../../../identity/groups/visible.ts';
import { selectAncestors } from '../../../../identity/namespaces/ancestors.ts';
import { basicUser } from '../../../../identity/users/json.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import { type ListedMember, listMembers } from '../../../../projects/members/queries.ts';
import { avatar } from '../../parts/avatar.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { form } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { choiceTabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { relative } from '../../parts/timestamp.ts';
import { pagesNav } from '../../parts/paging.ts';
import { nameRole } from '../../parts/projects/role.ts';
import { searchForm } from '../../parts/search_form.ts';
import { type View, type Visit, withRefusal } from '../../page.ts';
import { type Tried, type TriedGroup, addForm, memberForms } from './form.ts';
import { type TriedInvitation, invitationsPart } from './invitations.ts';
import { sharedGroupsPart } from './shared_groups.ts';
import type { MemberList } from './project_or_group_routes.ts';
import { spellCount } from '../../../../platform/spell_count.ts';
import { omitEmpty } from '../../../../platform/omit_empty.ts';

export type ListQuery = { query?: string; with?: 'direct'; page?: number; per_page?: number };

/** The group through which a user is a member. */
type SourceGroup = { full_path: string; isAbove: boolean };

type ListContext = {
  visit: Visit;
  list: MemberList;
  groups: Map<number, SourceGroup>;
  tried: Tried | null;
};

const isDirect = ({ source }: MemberList, { source_type, source_id }: ListedMember): boolean =>
  source_type === source.type && source_id === source.id;

const sourcePart = ({ list, groups }: ListContext, member: ListedMember): Html => {
  if (isDirect(list, member)) return html`Direct member`;
  const group = groups.get(member.source_id);
  if (group === undefined) return html`Member of a private group`;
  const how = group.isAbove ? 'Inherited from' : 'By the shared group';
  return html`${how} <a href="/groups/${group.full_path}">${group.full_path}</a>`;
};

const leaveForm = (visit: Visit, { path, kind }: MemberList, id: number): Html =>
  form(visit, {
    action: `${path}/${id}/remove`,
    submit: `Leave the ${kind.noun}`,
    danger: true,
    isQuiet: true,
  });

const actionPart = ({ visit, list, tried }: ListContext, member: ListedMember): Html | null => {
  if (!isDirect(list, member)) return null;
  if (member.id === requireUser(visit.call).id) {
    const leave = html`<details><summary>Leave</summary><div class="stack"><p>You lose the access that this membership gives you.</p>${leaveForm(visit, list, member.id)}</div></details>`;
    return list.source.mayAdmin ? memberForms(visit, list, member, tried) : leave;
  }
  return list.source.mayAdmin ? memberForms(visit, list, member, tried) : null;
};

const line = (context: ListContext, member: ListedMember): Html => {
  const { username, name, access_level, expires_at, created_at, state } = member;
  const { call } = context.visit;
  const { avatar_url } = basicUser(member, call);
  const isSelf = member.id === requireUser(call).id;
  return html`<li>
<span class="lead">${avatar({ name, avatar_url, size: 'medium' })}</span>
<span class="title"><a href="/${username}">${name}</a>${isSelf && html` <span class="badge">You</span>`}${
    state === 'blocked' && html` <span class="badge">Blocked</span>`
  }</span>
<span class="meta"><span>@${username}</span><span>${sourcePart(context, member)}</span><span>since ${relative(created_at)}</span></span>
<span class="side">${expires_at !== null && html`<span>Until ${expires_at}</span>`}<strong>${nameRole(access_level)}</strong></span>
${actionPart(context, member)}</li>
`;
};

/** Loads the groups from which members come, if the visitor sees the groups. */
const loadGroups = async (
  { call }: Visit,
  { source }: MemberList,
  members: readonly ListedMember[],
): Promise<Map<number, SourceGroup>> => {
  const ids = new Set(
    members.filter(({ source_type }) => source_type === 'Namespace').map(({ source_id }) => source_id),
  );
  if (ids.size === 0) return new Map();
  const rows = await call.db
    .selectFrom('namespaces')
    .select(['id', 'full_path'])
    .select(sql<number>`(id in ${selectAncestors(source.namespace_id)})`.as('is_above'))
    .where('id', 'in', [...ids])
    .where(visibleGroups(call.viewer, call.platform.store.dialect))
    .execute();
  return new Map(rows.map(({ id, full_path, is_above }) => [id, { full_path, isAbove: Boolean(is_above) }]));
};

const addPart = async (visit: Visit, list: MemberList, tried: Tried | null): Promise<Html | null> => {
  const { source, kind } = list;
  if (!source.mayAdmin) return null;
  if (source.type === 'Project' && (await isMembershipLocked(visit.call.db, source.namespace_id))) {
    return html`<p class="quiet">The group of this project does not allow adding members to its projects.</p>`;
  }
  return html`<section class="card" aria-labelledby="add_title"><header><h2 id="add_title">Add a member</h2></header>
<div class="body">${addForm(visit, list, tried)}</div></section>
<p class="quiet">Roles: guests read and report, reporters also manage issues, developers push, maintainers also change settings${
    kind.noun === 'group' && ', owners also manage the group and its members'
  }.</p>`;
};

/** Renders the list. @param refused null: nothing was refused */
export const membersView = async (
  visit: Visit,
  list: MemberList,
  listQuery: ListQuery,
  refused: Tried | TriedGroup | TriedInvitation | null = null,
): Promise<View> => {
  const tried = refused !== null && 'userId' in refused ? refused : null;
  const { call } = visit;
  const { query = '', with: filter } = listQuery;
  const page = pageRequest(listQuery);
  const { rows, total } = await listMembers(
    call.db,
    list.source,
    { query, inherited: filter === undefined, now: call.now },
    page,
  );
  const context = { visit, list, groups: await loadGroups(visit, list, rows), tried };
  const { path } = list;
  const names = { direct: 'Direct' };
  const content = html`${refused !== null && html`<p class="flash alert" role="alert">${refused.problems.text ?? 'Nothing was saved. Correct the form below.'}</p>`}
${await addPart(visit, list, tried)}
<div class="row between">${choiceTabs({ label: 'Which members', path, param: 'with', chosen: filter, names })}
${searchForm({ path, name: 'query', value: query, label: 'Search members', keep: { with: filter } })}</div>
<div class="card"><header><span class="muted">${spellCount(total, 'member')}</span></header>${
    rows.length === 0
      ? emptyState({
          icon: 'users',
          title: 'No members',
          text: query === '' ? 'Nobody was added yet.' : 'Nobody matches the search.',
        })
      : html`<ul class="list">${rows.map((row) => line(context, row))}</ul>`
  }</div>
${pagesNav({ path, query: { query: omitEmpty(query), with: filter }, page, total })}
${await invitationsPart(visit, list, refused !== null && 'invitation' in refused ? refused : null)}
${await sharedGroupsPart(visit, list, refused !== null && 'groupId' in refused ? refused : null)}`;
  return withRefusal(list.view(visit, content), refused !== null);
};
