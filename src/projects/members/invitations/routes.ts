/** Endpoints that invite people to projects and groups by their address, written once for both. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { badRequest, forbidden, invalid } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import {
  anything,
  clearable,
  day,
  idOrPath,
  int,
  integer,
  integers,
  names,
  nullable,
  object,
  optional,
  string,
  text,
  timestamp,
} from '../../../platform/http/schema.ts';
import { formatTime } from '../../../platform/time.ts';
import { type SourceKind, groupSource, projectSource } from '../member_source.ts';
import { updateInvitation, withdrawInvitation } from './change.ts';
import { invite, maxInvited } from './invite.ts';
import { type ListedInvitation, findInvitation, listInvitations } from './queries.ts';

const area = 'members';
const audience = 'user';

const invitationShape = object({
  id: int,
  invite_email: string,
  access_level: int,
  created_at: timestamp,
  expires_at: nullable(string),
  user_name: nullable(string),
  created_by_name: nullable(string),
});

/** `user_name` is always null: accounts with a confirmed address become members immediately. */
const invitationJson = (row: ListedInvitation) => ({
  id: row.id,
  invite_email: row.email,
  access_level: row.access_level,
  created_at: formatTime(row.created_at),
  expires_at: row.expires_at,
  user_name: null,
  created_by_name: row.created_by_name,
});

/** Parameters of the endpoints of a kind of source. */
const getParams = ({ plural, noun, roles }: SourceKind) => ({
  path: `/${plural}/:id/invitations`,
  id: idOrPath(`id or full path of the ${noun}`),
  email: text({ maxLength: 255, description: 'invited email address' }),
  expires_at: optional(clearable(day('expiration date of the membership'))),
  role: `role: ${roles.join(', ')}`,
});

const openingRoutes = (kind: SourceKind) => {
  const { noun } = kind;
  const { path, id, expires_at, role } = getParams(kind);

  const list = endpoint({
    method: 'GET',
    path,
    summary: `List pending invitations to a ${noun}`,
    area,
    audience,
    list: true,
    params: object({
      id,
      query: optional(text({ description: 'part of the email address' })),
      ...pageParams,
    }),
    reply: invitationShape,
    handle: async (call, { id: sourceId, query = '', ...params }) => {
      const source = await kind.find(call, sourceId);
      if (!source.mayAdmin) throw forbidden();
      const page = await listInvitations(call.db, source, { query, now: call.now }, pageRequest(params));
      return { ...page, items: page.items.map(invitationJson) };
    },
  });

  const create = endpoint({
    method: 'POST',
    path,
    summary: `Invite email addresses to a ${noun}, or add users by id`,
    area,
    audience,
    params: object({
      id,
      email: optional(names({ maxItems: maxInvited, description: 'addresses, separated by commas' })),
      user_id: optional(integers({ maxItems: maxInvited, description: 'ids, separated by commas' })),
      access_level: integer({ description: role }),
      expires_at,
    }),
    reply: object({ status: string, message: optional(anything) }),
    handle: async (call, { id: sourceId, email: emails = [], user_id = [], access_level, ...rest }) => {
      const source = await kind.find(call, sourceId);
      if (emails.length + user_id.length === 0 && source.mayAdmin)
        throw badRequest('email, user_id are missing, at least one parameter must be provided');
      if (emails.length + user_id.length > maxInvited)
        throw invalid({ base: [`Too many users specified (limit is ${maxInvited})`] });
      const granted = { access_level, expires_at: rest.expires_at ?? null };
      const refusals = await invite({ call, kind, source, role: granted }, { emails, user_ids: user_id });
      return Object.keys(refusals).length === 0
        ? { status: 'success' }
        : { status: 'error', message: refusals };
    },
  });

  return [list, create];
};

const changingRoutes = (kind: SourceKind) => {
  const { noun } = kind;
  const { path, id, email, expires_at, role } = getParams(kind);

  const update = endpoint({
    method: 'PUT',
    path: `${path}/:email`,
    summary: `Update a pending invitation to a ${noun}`,
    area,
    audience,
    params: object({ id, email, access_level: optional(integer({ description: role })), expires_at }),
    reply: invitationShape,
    handle: async (call, { id: sourceId, email: address, ...changes }) => {
      const source = await kind.find(call, sourceId);
      await updateInvitation(call, { kind, source }, address, changes);
      return invitationJson(await findInvitation(call.db, source, address, call.now));
    },
  });

  const remove = endpoint({
    method: 'DELETE',
    path: `${path}/:email`,
    summary: `Delete a pending invitation to a ${noun}`,
    area,
    audience,
    params: object({ id, email }),
    reply: null,
    handle: async (call, params) =>
      await withdrawInvitation(call, { kind, source: await kind.find(call, params.id) }, params.email),
  });

  return [update, remove];
};

export const invitationRoutes = [projectSource, groupSource].flatMap((kind) => [
  ...openingRoutes(kind),
  ...changingRoutes(kind),
]);
