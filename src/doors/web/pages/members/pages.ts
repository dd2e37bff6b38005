/** Pages of members, and handlers for their forms, which call the operations of the API. */
import { requireUser } from '../../../../core/access/call.ts';
import { selectUsers } from '../../../../identity/users/list.ts';
import type { UserRow } from '../../../../identity/users/queries.ts';
import { Failure, forbidden } from '../../../../platform/errors.ts';
import { pageParams } from '../../../../platform/http/page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import {
  clearable,
  day,
  id,
  integer,
  object,
  oneOf,
  optional,
  text,
} from '../../../../platform/http/schema.ts';
import { addMember, removeMember, updateMember } from '../../../../projects/members/change_members.ts';
import { type FormProblems, attempt } from '../../parts/form.ts';
import { nameRole } from '../../parts/projects/role.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import type { Tried } from './form.ts';
import { invitationPages } from './invitation_pages.ts';
import { sharedGroupPages } from './shared_group_pages.ts';
import { membersView } from './list.ts';
import { type MemberList, type MemberListRoute, memberListRoutes } from './project_or_group_routes.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

const maxCandidates = 10;

const listPage = ({ routePath, params, find }: MemberListRoute): AnyPage =>
  page({
    method: 'GET',
    path: routePath,
    audience: 'user',
    params: object({
      ...params,
      query: optional(text()),
      with: optional(oneOf(['direct'])),
      ...pageParams,
    }),
    handle: async (visit, query) => await membersView(visit, await find(visit, query), query),
  });

const findUsers = async (
  { call }: Visit,
  filter: { username: string } | { search: string },
): Promise<UserRow[]> => {
  const order = { order_by: 'id', sort: 'asc' } as const;
  const page = { limit: maxCandidates, offset: 0, admin: call.admin };
  return (await selectUsers(call.db, { ...filter, active: true, ...order }, page)).rows;
};

type Found = { user: UserRow } | { candidates: UserRow[] };

/** Finds a user by exact user name, otherwise users whose names contain the text. */
const findUser = async (visit: Visit, typed: string): Promise<Found> => {
  const name = typed.trim().replace(/^@/, '');
  if (name === '') return { candidates: [] };
  const [user] = await findUsers(visit, { username: name });
  return user === undefined ? { candidates: await findUsers(visit, { search: name }) } : { user };
};

const rolePart = { access_level: optional(integer()), expires_at: optional(clearable(day())) };

const typedIn = (sent: RawParams): Record<string, string> =>
  Object.fromEntries(
    ['user', 'access_level', 'expires_at'].flatMap((name) =>
      sent[name] === undefined ? [] : [[name, fieldText(sent[name])]],
    ),
  );

const refuse = async (visit: Visit, list: MemberList, tried: Tried): Promise<View> =>
  await membersView(visit, list, {}, tried);

/** Shows the problems of an invalid form only to users who can submit it. @throws Failure 403 */
const refuseInvalid =
  ({ find }: MemberListRoute) =>
  async (visit: Visit, sent: RawParams, fields: FormProblems['fields']): Promise<View> => {
    const list = await find(visit, sent);
    if (!list.source.mayAdmin) throw forbidden();
    const userId = sent['id'] === undefined ? null : Number(sent['id']);
    return await refuse(visit, list, { userId, sent: typedIn(sent), problems: { text: null, fields } });
  };

const addPage = (kind: MemberListRoute): AnyPage =>
  page({
    method: 'POST',
    path: kind.routePath,
    audience: 'user',
    params: object({ ...kind.params, ...rolePart, user: optional(text()), choice: optional(text()) }),
    invalid: refuseInvalid(kind),
    handle: async (visit, params) => {
      const list = await kind.find(visit, params);
      if (!list.source.mayAdmin) throw forbidden();
      const { user: typed = '', choice, access_level = 0, expires_at = null } = params;
      const found = await findUser(visit, choice ?? typed);
      const tried = { userId: null, sent: typedIn({ ...params, user: choice ?? typed }) };
      if (!('user' in found)) {
        const { candidates } = found;
        const said = candidates.length === 0 ? 'was not found' : 'has no such user name. Choose one below';
        const problems = { text: null, fields: { user: [typed.trim() === '' ? "can't be blank" : said] } };
        return await refuse(visit, list, { ...tried, problems, candidates });
      }
      const { id: user_id, name } = found.user;
      const role = { user_id, access_level, expires_at };
      const problems = await attempt(async () => await addMember(visit.call, list.kind, list.source, role));
      if (problems !== null) return await refuse(visit, list, { ...tried, problems });
      return redirect(list.path, `${name} was added: ${nameRole(access_level)}.`);
    },
  });

const ownerStays = 'The owner of a personal project and the last owner of a group must stay.';

/** Runs a change that the visitor may make; where it is still forbidden, an owner must stay. */
const attemptChange = async (
  { source }: MemberList,
  level: number,
  change: () => Promise<void>,
): Promise<FormProblems | null> => {
  try {
    return await attempt(change);
  } catch (error) {
    const mustStay = error instanceof Failure && error.kind === 'forbidden' && source.mayAdmin;
    if (!mustStay || level > source.level) throw error;
    return { text: ownerStays, fields: {} };
  }
};

const changePage = (kind: MemberListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:id`,
    audience: 'user',
    params: object({ ...kind.params, id: id(), ...rolePart }),
    invalid: refuseInvalid(kind),
    handle: async (visit, params) => {
      const list = await kind.find(visit, params);
      const { id: user_id, access_level = 0, expires_at } = params;
      const role = { user_id, access_level, ...(expires_at !== undefined && { expires_at }) };
      const problems = await attemptChange(
        list,
        access_level,
        async () => await updateMember(visit.call, list.kind, list.source, role),
      );
      if (problems === null) return redirect(list.path, 'The membership was saved.');
      return await refuse(visit, list, { userId: user_id, sent: typedIn(params), problems });
    },
  });

const removePage = (kind: MemberListRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:id/remove`,
    audience: 'user',
    params: object({ ...kind.params, id: id() }),
    handle: async (visit, params) => {
      const list = await kind.find(visit, params);
      const remove = async (): Promise<void> =>
        await removeMember(visit.call, list.kind, list.source, params.id);
      const isSelf = params.id === requireUser(visit.call).id;
      const problems = await attemptChange(list, 0, remove);
      if (problems !== null) return await refuse(visit, list, { userId: params.id, sent: {}, problems });
      // The place may be hidden from now on.
      if (isSelf) return redirect('/', `You left ${list.fullPath}.`);
      return redirect(list.path, 'The member was removed.');
    },
  });

export const pages = memberListRoutes.flatMap((kind) => [
  listPage(kind),
  addPage(kind),
  changePage(kind),
  removePage(kind),
  ...sharedGroupPages(kind),
  ...invitationPages(kind),
]);
