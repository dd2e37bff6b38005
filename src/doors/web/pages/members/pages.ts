/** Pages of members, and handlers for their forms, which call the operations of the API. */
import { requireUser } from '../../../../core/access/call.ts';
import { selectUsers } from '../../../../identity/users/list.ts';
import type { UserRow } from '../../../../identity/users/queries.ts';
import { Failure, invalid } from '../../../../platform/errors.ts';
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
import { type FormProblems, problemsOf } from '../../parts/form_problems.ts';
import { type FormState, formPage } from '../../parts/fields/form_page.ts';
import { nameRole } from '../../parts/projects/role.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import { invitationPages } from './invitation_pages.ts';
import { sharedGroupPages } from './shared_group_pages.ts';
import { membersView } from './list.ts';
import {
  type MemberList,
  type MemberListRoute,
  findAdministered,
  memberListRoutes,
} from './project_or_group_routes.ts';
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

/** Returns what was typed. A chosen candidate takes the place of the typed name. */
const typedMember = (sent: RawParams): Record<string, string> =>
  typedIn({ ...sent, user: sent['choice'] ?? sent['user'] });

const addPage = (kind: MemberListRoute): AnyPage =>
  formPage({
    path: kind.routePath,
    audience: 'user',
    address: kind.params,
    fields: { ...rolePart, user: optional(text()), choice: optional(text()) },
    find: async (visit, address) => await findAdministered(kind, visit, address),
    fromSent: typedMember,
    run: async (visit, list, params) => {
      const { user: typed = '', choice, access_level = 0, expires_at = null } = params;
      const match = await findUser(visit, choice ?? typed);
      if ('user' in match) {
        const { id: user_id, name } = match.user;
        await addMember(visit.call, list.kind, list.source, { user_id, access_level, expires_at });
        return redirect(list.path, `${name} was added: ${nameRole(access_level)}.`);
      }
      const { candidates } = match;
      if (typed.trim() === '') throw invalid({ user: ["can't be blank"] });
      if (candidates.length === 0) throw invalid({ user: ['was not found'] });
      const problems = { text: null, fields: { user: ['has no such user name. Choose one below'] } };
      return await membersView(
        visit,
        list,
        {},
        { userId: null, sent: typedMember(params), problems, candidates },
      );
    },
    view: async (visit, list, { values: sent, problems }) =>
      await membersView(visit, list, {}, { userId: null, sent, problems }),
  });

const ownerStays: FormProblems = {
  text: 'The owner of a personal project and the last owner of a group must stay.',
  fields: {},
};

/** Reads why a change was refused. Where the visitor may make it and it is still forbidden, an owner must stay. */
const readChangeFailure = (error: unknown, { source }: MemberList, level: number): FormProblems | null => {
  const isForbidden = error instanceof Failure && error.kind === 'forbidden';
  return isForbidden && source.mayAdmin && level <= source.level ? ownerStays : problemsOf(error);
};

type Membership = { list: MemberList; userId: number };

const showMembership = async (
  visit: Visit,
  { list, userId }: Membership,
  { values: sent, problems }: FormState<Record<string, string>>,
): Promise<View> => await membersView(visit, list, {}, { userId, sent, problems });

const changePage = (kind: MemberListRoute): AnyPage =>
  formPage({
    path: `${kind.routePath}/:id`,
    audience: 'user',
    address: { ...kind.params, id: id() },
    fields: rolePart,
    find: async (visit, address) => ({
      list: await findAdministered(kind, visit, address),
      userId: address.id,
    }),
    fromSent: typedIn,
    run: async ({ call }, { list, userId: user_id }, { access_level = 0, expires_at }) => {
      const role = { user_id, access_level, ...(expires_at !== undefined && { expires_at }) };
      await updateMember(call, list.kind, list.source, role);
      return redirect(list.path, 'The membership was saved.');
    },
    readFailure: (error, { list }, { access_level = 0 }) => readChangeFailure(error, list, access_level),
    view: showMembership,
  });

const removePage = (kind: MemberListRoute): AnyPage =>
  formPage({
    path: `${kind.routePath}/:id/remove`,
    audience: 'user',
    address: { ...kind.params, id: id() },
    fields: {},
    find: async (visit, address) => ({ list: await kind.find(visit, address), userId: address.id }),
    fromSent: () => ({}),
    run: async ({ call }, { list, userId }) => {
      await removeMember(call, list.kind, list.source, userId);
      // The place may be hidden from now on.
      if (userId === requireUser(call).id) return redirect('/', `You left ${list.fullPath}.`);
      return redirect(list.path, 'The member was removed.');
    },
    readFailure: (error, { list }) => readChangeFailure(error, list, 0),
    view: showMembership,
  });

export const pages = memberListRoutes.flatMap((kind) => [
  listPage(kind),
  addPage(kind),
  changePage(kind),
  removePage(kind),
  ...sharedGroupPages(kind),
  ...invitationPages(kind),
]);
