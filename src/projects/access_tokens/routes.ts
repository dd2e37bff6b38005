/** Endpoints of access tokens, written once for projects and groups. */
import type { Call } from '../../core/access/call.ts';
import { levels } from '../../core/access/levels.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { loadOwnToken } from '../../identity/tokens/create_own_token.ts';
import { newTokenShape, tokenJson, tokenShape } from '../../identity/tokens/json.ts';
import { rotateToken } from '../../identity/tokens/rotate.ts';
import { forbidden } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import {
  boolean,
  clearable,
  day,
  id as idParam,
  idOrPath,
  int,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  text,
  texts,
  time,
} from '../../platform/http/schema.ts';
import { type Source, type SourceKind, groupSource, projectSource } from '../members/member_source.ts';
import { type AccessToken, findAccessToken, listAccessTokens } from './queries.ts';
import { accessTokenScopes, createAccessToken, revokeAccessToken, rotateAccessToken } from './write.ts';

const area = 'tokens';
const expiry = optional(clearable(day('expires at 00:00 UTC on this day')));
const level = { access_level: nullable(int) };
const shape = object({ ...tokenShape.properties, ...level });
const newShape = object({ ...newTokenShape.properties, ...level });

const accessTokenJson = (token: AccessToken, now: number) => ({
  ...tokenJson(token, now),
  access_level: token.access_level,
});

const getPath = ({ plural }: SourceKind): string => `/${plural}/:id/access_tokens`;
const getParams = ({ noun }: SourceKind) => ({ id: idOrPath(`id or full path of the ${noun}`) });

/** @throws Failure 404 for a hidden source, 403 for callers who may not administer its members */
const findAdministered = async (kind: SourceKind, call: Call, id: number | string): Promise<Source> => {
  const source = await kind.find(call, id);
  if (!source.mayAdmin) throw forbidden();
  return source;
};

const list = (kind: SourceKind) =>
  endpoint({
    method: 'GET',
    path: getPath(kind),
    summary: `List access tokens of a ${kind.noun}`,
    area,
    audience: 'user',
    list: true,
    params: object({
      ...getParams(kind),
      state: optional(oneOf(['active', 'inactive'])),
      revoked: optional(boolean()),
      search: optional(text({ description: 'part of the name' })),
      created_after: optional(time()),
      created_before: optional(time()),
      last_used_after: optional(time()),
      last_used_before: optional(time()),
      expires_after: optional(day()),
      expires_before: optional(day()),
      ...pageParams,
    }),
    reply: shape,
    handle: async (call, { id, ...params }) => {
      const source = await findAdministered(kind, call, id);
      const page = { ...pageRequest(params), now: call.now };
      const { items, total } = await listAccessTokens(call.db, source, params, page);
      return { items: items.map((token) => accessTokenJson(token, call.now)), total };
    },
  });

const show = (kind: SourceKind) =>
  endpoint({
    method: 'GET',
    path: `${getPath(kind)}/:token_id`,
    summary: `Get an access token of a ${kind.noun}`,
    area,
    audience: 'user',
    params: object({ ...getParams(kind), token_id: idParam() }),
    reply: shape,
    handle: async (call, { id, token_id }) =>
      accessTokenJson(
        await findAccessToken(call.db, await findAdministered(kind, call, id), token_id),
        call.now,
      ),
  });

const newJson = async (call: Call, source: Source, made: { id: number; text: string }) => ({
  ...accessTokenJson(await findAccessToken(call.db, source, made.id), call.now),
  token: made.text,
});

const create = (kind: SourceKind) =>
  endpoint({
    method: 'POST',
    path: getPath(kind),
    summary: `Create an access token of a ${kind.noun} with its bot user`,
    area,
    audience: 'user',
    params: object({
      ...getParams(kind),
      name: text(),
      description: optional(clearable(text({ description: 'purpose' }))),
      scopes: texts({ description: accessTokenScopes.join(', ') }),
      access_level: {
        ...integer({ description: 'role; at most the role of the caller' }),
        default: levels.master,
      },
      expires_at: expiry,
    }),
    reply: newShape,
    handle: async (call, { id, expires_at = null, ...token }) => {
      const source = await findAdministered(kind, call, id);
      return await newJson(
        call,
        source,
        await createAccessToken(call, kind, source, { ...token, expires_at }),
      );
    },
  });

const revoke = (kind: SourceKind) =>
  endpoint({
    method: 'DELETE',
    path: `${getPath(kind)}/:token_id`,
    summary: `Revoke an access token of a ${kind.noun}`,
    area,
    audience: 'user',
    params: object({ ...getParams(kind), token_id: idParam() }),
    reply: null,
    handle: async (call, { id, token_id }) => {
      const source = await findAdministered(kind, call, id);
      const token = await findAccessToken(call.db, source, token_id);
      requireUnmodified(call.header('if-unmodified-since'), token.created_at);
      await revokeAccessToken(call, source, token);
    },
  });

const rotate = (kind: SourceKind) =>
  endpoint({
    method: 'POST',
    path: `${getPath(kind)}/:token_id/rotate`,
    summary: `Rotate an access token of a ${kind.noun}`,
    area,
    audience: 'user',
    params: object({ ...getParams(kind), token_id: idParam(), expires_at: expiry }),
    reply: newShape,
    handle: async (call, { id, token_id, expires_at = null }) => {
      const source = await findAdministered(kind, call, id);
      const token = await findAccessToken(call.db, source, token_id);
      return await newJson(call, source, await rotateAccessToken(call, source, token, expires_at));
    },
  });

const rotateSelf = (kind: SourceKind) =>
  endpoint({
    method: 'POST',
    path: `${getPath(kind)}/self/rotate`,
    summary: `Rotate the ${kind.noun} access token of the request`,
    area,
    audience: 'user',
    params: object({ ...getParams(kind), expires_at: expiry }),
    reply: newShape,
    handle: async (call, { id, expires_at = null }) => {
      const source = await kind.find(call, id);
      const own = await loadOwnToken(call);
      const token = await findAccessToken(call.db, source, own.id);
      return await newJson(call, source, await rotateToken(call, token, expires_at));
    },
  });

export const accessTokenRoutes = [projectSource, groupSource].flatMap((kind) =>
  [list, show, create, revoke, rotate, rotateSelf].map((route) => route(kind)),
);
