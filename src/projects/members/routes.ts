/** Endpoints of the members of projects and groups, written once for both. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  clearable,
  day,
  id as idParam,
  idOrPath,
  integer,
  integers,
  object,
  oneOf,
  optional,
  text,
  unsupportedFilter,
} from '../../platform/http/schema.ts';
import { basicUsersById } from '../../identity/users/json.ts';
import { addMember, removeMember, updateMember } from './change_members.ts';
import { type MemberRow, memberJson, memberShape } from './json.ts';
import { findMember, listMembers } from './queries.ts';
import { type Source, type SourceKind, findReadable, groupSource, projectSource } from './member_source.ts';

const area = 'members';
const audience = 'user';
const reply = memberShape;

const membersJson = async (call: Call, rows: readonly MemberRow[]) => {
  const makers = await basicUsersById(
    call.db,
    rows.flatMap(({ created_by_id }) => created_by_id ?? []),
  );
  return rows.map((row) => memberJson(row, makers, call));
};

/** Reads the member's current state. */
const answer = async (call: Call, source: Source, user_id: number, inherited = false) => {
  const row = await findMember(call.db, source, { inherited, now: call.now, user_id });
  if (row === undefined) throw notFound();
  return (await membersJson(call, [row]))[0];
};

const readingRoutes = (kind: SourceKind) => {
  const { plural, noun } = kind;
  const id = idOrPath(`id or full path of the ${noun}`);

  const list = (path: string, summary: string, inherited: boolean) =>
    endpoint({
      method: 'GET',
      path,
      summary,
      area,
      audience,
      params: object({
        id,
        query: optional(text({ description: 'part of the name or user name' })),
        user_ids: optional(integers({ description: 'only these users' })),
        skip_users: optional(integers({ description: 'users to exclude' })),
        state: optional(
          oneOf(['awaiting', 'active', 'created'], { description: 'accepted: every member is active' }),
        ),
        with_saml_identity: unsupportedFilter(['false']),
        ...pageParams,
      }),
      reply,
      list: true,
      handle: async (call, params) => {
        const source = await findReadable(kind, call, params.id);
        if (params.state === 'awaiting' || params.state === 'created') return { items: [], total: 0 };
        const { query = '', user_ids, skip_users } = params;
        const filter = { query, inherited, now: call.now, user_ids, skip_users };
        const { rows, total } = await listMembers(call.db, source, filter, pageRequest(params));
        return { items: await membersJson(call, rows), total };
      },
    });

  const show = (path: string, summary: string, inherited: boolean) =>
    endpoint({
      method: 'GET',
      path,
      summary,
      area,
      audience,
      params: object({ id, user_id: idParam() }),
      reply,
      handle: async (call, params) =>
        await answer(call, await findReadable(kind, call, params.id), params.user_id, inherited),
    });

  const inheritedPath = `/${plural}/:id/members/all`;
  return [
    list(`/${plural}/:id/members`, `List members of a ${noun}`, false),
    list(inheritedPath, `List direct and inherited members of a ${noun}`, true),
    show(`/${plural}/:id/members/:user_id`, `Get a member of a ${noun}`, false),
    show(`${inheritedPath}/:user_id`, `Get a direct or inherited member of a ${noun}`, true),
  ];
};

const writingRoutes = (kind: SourceKind) => {
  const { plural, noun } = kind;
  const id = idOrPath(`id or full path of the ${noun}`);
  const access_level = integer({ description: `role: ${kind.roles.join(', ')}` });
  const expires_at = optional(clearable(day('expiration date of the membership')));
  const path = `/${plural}/:id/members/:user_id`;

  const add = endpoint({
    method: 'POST',
    path: `/${plural}/:id/members`,
    summary: `Add a member to a ${noun}`,
    area,
    audience,
    params: object({ id, user_id: idParam(), access_level, expires_at }),
    reply,
    handle: async (call, { id: sourceId, expires_at: ends = null, ...role }) => {
      const source = await kind.find(call, sourceId);
      await addMember(call, kind, source, { ...role, expires_at: ends });
      return await answer(call, source, role.user_id);
    },
  });

  const update = endpoint({
    method: 'PUT',
    path,
    summary: `Update a member of a ${noun}`,
    area,
    audience,
    params: object({ id, user_id: idParam(), access_level, expires_at }),
    reply,
    handle: async (call, { id: sourceId, ...role }) => {
      const source = await kind.find(call, sourceId);
      await updateMember(call, kind, source, role);
      return await answer(call, source, role.user_id);
    },
  });

  const remove = endpoint({
    method: 'DELETE',
    path,
    summary: `Remove a member from a ${noun}`,
    area,
    audience,
    params: object({ id, user_id: idParam() }),
    reply: null,
    handle: async (call, params) =>
      await removeMember(call, kind, await kind.find(call, params.id), params.user_id),
  });

  return [add, update, remove];
};

export const memberRoutes = [projectSource, groupSource].flatMap((kind) => [
  ...readingRoutes(kind),
  ...writingRoutes(kind),
]);
