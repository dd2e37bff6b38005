/** Handlers for the forms that share a project or group with groups. They call the operations of the API. */
import { findGroupOrNull } from '../../../../identity/groups/find.ts';
import { forbidden } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, day, id, integer, object, optional, text } from '../../../../platform/http/schema.ts';
import { shareWithGroup, unshareWithGroup, updateShare } from '../../../../projects/members/share.ts';
import { type FormProblems, attempt } from '../../parts/form.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import { membersView } from './list.ts';
import type { MemberList, MemberListRoute } from './project_or_group_routes.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

const rolePart = { group_access: optional(integer()), expires_at: optional(clearable(day())) };

const typedIn = (sent: RawParams): Record<string, string> =>
  Object.fromEntries(
    ['group', 'group_access', 'expires_at'].flatMap((name) =>
      sent[name] === undefined ? [] : [[name, fieldText(sent[name])]],
    ),
  );

/** @throws Failure 404 for a hidden place, 403 for users who may not administer its members */
const findAdministered = async (
  { find }: MemberListRoute,
  visit: Visit,
  params: RawParams,
): Promise<MemberList> => {
  const list = await find(visit, params);
  if (!list.source.mayAdmin) throw forbidden();
  return list;
};

type Refused = { list: MemberList; sent: RawParams; problems: FormProblems };

const refuse = async (
  visit: Visit,
  groupId: number | null,
  { list, sent, problems }: Refused,
): Promise<View> => await membersView(visit, list, {}, { groupId, sent: typedIn(sent), problems });

const refuseInvalid =
  (route: MemberListRoute) =>
  async (visit: Visit, sent: RawParams, fields: FormProblems['fields']): Promise<View> => {
    const list = await findAdministered(route, visit, sent);
    const groupId = sent['id'] === undefined ? null : Number(sent['id']);
    return await refuse(visit, groupId, { list, sent, problems: { text: null, fields } });
  };

/** Finds the group with this path; null if the visitor cannot see it. */
const findTyped = async ({ call }: Visit, typed: string): Promise<{ id: number; name: string } | null> => {
  const path = typed.trim().replace(/^\/+/, '');
  // A number would be an id.
  if (path === '' || /^\d+$/.test(path)) return null;
  return await findGroupOrNull(call, path);
};

const unknownGroup: FormProblems = { text: null, fields: { group: ['was not found'] } };

const invitePage = (route: MemberListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/groups`,
    audience: 'user',
    params: object({ ...route.params, ...rolePart, group: optional(text()) }),
    invalid: refuseInvalid(route),
    handle: async (visit, params) => {
      const list = await findAdministered(route, visit, params);
      const { group: typed = '', group_access = 0, expires_at = null } = params;
      const group = await findTyped(visit, typed);
      if (group === null) return await refuse(visit, null, { list, sent: params, problems: unknownGroup });
      const share = { group_id: group.id, group_access, expires_at };
      const problems = await attempt(
        async () => await shareWithGroup(visit.call, list.kind, list.source, share),
      );
      if (problems !== null) return await refuse(visit, null, { list, sent: params, problems });
      return redirect(list.path, `The group ${group.name} was invited.`);
    },
  });

const changePage = (route: MemberListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/groups/:id`,
    audience: 'user',
    params: object({ ...route.params, id: id(), ...rolePart }),
    invalid: refuseInvalid(route),
    handle: async (visit, params) => {
      const list = await findAdministered(route, visit, params);
      const { id: group_id, group_access = 0, expires_at = null } = params;
      const share = { group_id, group_access, expires_at };
      const problems = await attempt(
        async () => await updateShare(visit.call, list.kind, list.source, share),
      );
      if (problems !== null) return await refuse(visit, group_id, { list, sent: params, problems });
      return redirect(list.path, 'The role of the group was saved.');
    },
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
