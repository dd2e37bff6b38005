/** Handlers for the forms that share a project or group with groups. They call the operations of the API. */
import { findGroupOrNull } from '../../../../identity/groups/find.ts';
import { invalid } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, day, id, integer, object, optional, text } from '../../../../platform/http/schema.ts';
import { shareWithGroup, unshareWithGroup, updateShare } from '../../../../projects/members/share.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { type AnyPage, type Visit, page, redirect } from '../../page.ts';
import { membersView } from './list.ts';
import { type MemberListRoute, findAdministered } from './project_or_group_routes.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

const rolePart = { group_access: optional(integer()), expires_at: optional(clearable(day())) };

/** Places what the operation says of the group at the field of the form, which is not named as the address is. */
const atField = ({ text: said, fields: { group, ...fields } }: FormProblems): FormProblems => ({
  text: said,
  fields: group === undefined ? fields : { ...fields, shared_group: group },
});

const typedIn = (sent: RawParams): Record<string, string> =>
  Object.fromEntries(
    ['shared_group', 'group_access', 'expires_at'].flatMap((name) =>
      sent[name] === undefined ? [] : [[name, fieldText(sent[name])]],
    ),
  );

/** Finds the group with this path; null if the visitor cannot see it. */
const findTyped = async ({ call }: Visit, typed: string): Promise<{ id: number; name: string } | null> => {
  const path = typed.trim().replace(/^\/+/, '');
  // A number would be an id.
  if (path === '' || /^\d+$/.test(path)) return null;
  return await findGroupOrNull(call, path);
};

const invitePage = (route: MemberListRoute): AnyPage =>
  formPage({
    path: `${route.routePath}/groups`,
    audience: 'user',
    address: route.params,
    fields: { ...rolePart, shared_group: optional(text()) },
    find: async (visit, address) => await findAdministered(route, visit, address),
    fromSent: typedIn,
    toProblems: atField,
    run: async (visit, list, { shared_group: typed = '', group_access = 0, expires_at = null }) => {
      const group = await findTyped(visit, typed);
      if (group === null) throw invalid({ group: ['was not found'] });
      const share = { group_id: group.id, group_access, expires_at };
      await shareWithGroup(visit.call, list.kind, list.source, share);
      return redirect(list.path, `The group ${group.name} was invited.`);
    },
    view: async (visit, list, { values: sent, problems }) =>
      await membersView(visit, list, {}, { groupId: null, sent, problems }),
  });

const changePage = (route: MemberListRoute): AnyPage =>
  formPage({
    path: `${route.routePath}/groups/:id`,
    audience: 'user',
    address: { ...route.params, id: id() },
    fields: rolePart,
    find: async (visit, address) => ({
      list: await findAdministered(route, visit, address),
      groupId: address.id,
    }),
    fromSent: typedIn,
    run: async ({ call }, { list, groupId }, { group_access = 0, expires_at = null }) => {
      const share = { group_id: groupId, group_access, expires_at };
      await updateShare(call, list.kind, list.source, share);
      return redirect(list.path, 'The role of the group was saved.');
    },
    view: async (visit, { list, groupId }, { values: sent, problems }) =>
      await membersView(visit, list, {}, { groupId, sent, problems }),
  });

const removePage = (route: MemberListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/groups/:id/remove`,
    audience: 'user',
    params: object({ ...route.params, id: id() }),
    handle: async (visit, params) => {
      const list = await findAdministered(route, visit, params);
      await unshareWithGroup(visit.call, list.source, params.id);
      return redirect(list.path, 'The group was removed.');
    },
  });

export const sharedGroupPages = (route: MemberListRoute): AnyPage[] => [
  invitePage(route),
  changePage(route),
  removePage(route),
];
