import { type Call, requireActor, requireUser } from '../../core/access/call.ts';
import type { ParamsOf } from '../../platform/http/endpoint.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound, unauthorized } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  clearable,
  day,
  id,
  object,
  oneOf,
  optional,
  text,
  texts,
  time,
} from '../../platform/http/schema.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { loadUser } from '../users/queries.ts';
import { createToken } from './create.ts';
import { newTokenShape, tokenJson, tokenShape } from './json.ts';
import { createOwnToken, loadOwnToken } from './create_own_token.ts';
import { type TokenFilter, type TokenKind, type TokenRow, findToken, listTokens } from './queries.ts';
import { rotateToken } from './rotate.ts';
import { revokeToken } from './revoke.ts';
import { tokenScopes } from './rules.ts';

const area = 'tokens';
const ofUser = { user_id: id() };

const newToken = {
  name: text(),
  description: optional(clearable(text({ maxLength: 255, description: 'purpose' }))),
  scopes: { ...texts({ description: tokenScopes.join(', ') }), default: [] as string[] },
  expires_at: optional(clearable(day('expires at 00:00 UTC on this day'))),
};

const page = async ({ db, now }: Call, params: object, filter: TokenFilter) => {
  const { rows, total } = await listTokens(db, { filter, page: pageRequest(params), now });
  return { items: rows.map((token) => tokenJson(token, now)), total };
};

type NewToken = { id: number; text: string };

const newTokenJson = async (call: Call, made: NewToken, filter: Pick<TokenFilter, 'kind' | 'user_id'>) => {
  const row = await findToken(call.db, made.id, filter);
  if (row === undefined) throw notFound();
  return { ...tokenJson(row, call.now), token: made.text };
};

const revoke = async (call: Call, token: TokenRow): Promise<void> => {
  requireUnmodified(call.header('if-unmodified-since'), token.created_at);
  await revokeToken(call, token);
};

/* ---- of a user, for administrators ---- */

const listImpersonation = endpoint({
  method: 'GET',
  path: '/users/:user_id/impersonation_tokens',
  summary: 'List impersonation tokens of a user (administrators)',
  area,
  audience: 'admin',
  list: true,
  params: object({
    ...ofUser,
    state: { ...oneOf(['all', 'active', 'inactive']), default: 'all' as const },
    ...pageParams,
  }),
  reply: tokenShape,
  handle: async (call, params) => {
    await loadUser(call.db, params.user_id);
    return await page(call, params, { kind: 'impersonation', user_id: params.user_id, state: params.state });
  },
});

const createFor = (kind: TokenFilter['kind'], path: string, summary: string) =>
  endpoint({
    method: 'POST',
    path,
    summary,
    area,
    audience: 'admin',
    params: object({ ...ofUser, ...newToken }),
    reply: newTokenShape,
    handle: async (call, { expires_at = null, ...params }) => {
      const token = { ...params, kind, expires_at };
      const by = { cause: requireActor(call), source: call };
      return await newTokenJson(call, await createToken(call.platform, by, token), token);
    },
  });

const createImpersonation = createFor(
  'impersonation',
  '/users/:user_id/impersonation_tokens',
  'Create an impersonation token (administrators)',
);

const impersonationToken = { ...ofUser, impersonation_token_id: id() };

const findImpersonation = async (
  { db }: Call,
  params: { user_id: number; impersonation_token_id: number },
): Promise<TokenRow> => {
  await loadUser(db, params.user_id);
  const which = { kind: 'impersonation', user_id: params.user_id } as const;
  const token = await findToken(db, params.impersonation_token_id, which);
  if (token === undefined) throw notFound('Impersonation Token');
  return token;
};

const oneImpersonation = endpoint({
  method: 'GET',
  path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
  summary: 'Get an impersonation token (administrators)',
  area,
  audience: 'admin',
  params: object(impersonationToken),
  reply: tokenShape,
  handle: async (call, params) => tokenJson(await findImpersonation(call, params), call.now),
});

const revokeImpersonation = endpoint({
  method: 'DELETE',
  path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
  summary: 'Revoke an impersonation token (administrators)',
  area,
  audience: 'admin',
  params: object(impersonationToken),
  reply: null,
  handle: async (call, params) => await revoke(call, await findImpersonation(call, params)),
});

const createPersonal = createFor(
  'personal',
  '/users/:user_id/personal_access_tokens',
  'Create a personal access token of a user (administrators)',
);

/* ---- the caller's own tokens ---- */

const createOwn = endpoint({
  method: 'POST',
  path: '/user/personal_access_tokens',
  summary: 'Create a personal access token',
  area,
  audience: 'user',
  params: object(newToken),
  reply: newTokenShape,
  handle: async (call, { expires_at = null, ...params }) => {
    const made = await createOwnToken(call, { ...params, expires_at });
    return await newTokenJson(call, made, { kind: 'personal', user_id: requireUser(call).id });
  },
});

const listParams = object({
  user_id: optional(id('only tokens of this user; default for administrators: tokens of all users')),
  revoked: optional(boolean()),
  state: optional(oneOf(['active', 'inactive'])),
  search: optional(text({ description: 'part of the name' })),
  created_after: optional(time()),
  created_before: optional(time()),
  last_used_after: optional(time()),
  last_used_before: optional(time()),
  expires_after: optional(day()),
  expires_before: optional(day()),
  ...pageParams,
});

/** Returns the user whose tokens are listed; null: all. Only administrators may list tokens of others. */
const listedUser = (call: Call, { user_id }: ParamsOf<typeof listParams>): number | null => {
  if (call.admin) return user_id ?? null;
  const own = requireUser(call).id;
  if (user_id !== undefined && user_id !== own) throw unauthorized();
  return own;
};

const listPersonal = endpoint({
  method: 'GET',
  path: '/personal_access_tokens',
  summary: 'List personal access tokens',
  area,
  audience: 'user',
  list: true,
  params: listParams,
  reply: tokenShape,
  handle: async (call, params) => {
    const filter = { ...params, kind: 'personal', user_id: listedUser(call, params) } as const;
    return await page(call, params, filter);
  },
});

const self = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/self',
  summary: 'Get the token of the request',
  area,
  audience: 'user',
  scopes: ['read_user'],
  params: object({}),
  reply: tokenShape,
  handle: async (call) => tokenJson(await loadOwnToken(call), call.now),
});

/**
 * Loads a personal token. Users who are not administrators cannot distinguish unknown tokens from other users' tokens.
 */
const findPersonal = async (call: Call, tokenId: number): Promise<TokenRow> => {
  const user_id = call.admin ? null : requireUser(call).id;
  const token = await findToken(call.db, tokenId, { kind: 'personal', user_id });
  if (token === undefined) throw call.admin ? notFound() : unauthorized();
  return token;
};

const onePersonal = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/:id',
  summary: 'Get a personal access token',
  area,
  audience: 'user',
  params: object({ id: id() }),
  reply: tokenShape,
  handle: async (call, params) => tokenJson(await findPersonal(call, params.id), call.now),
});

const revokeSelf = endpoint({
  method: 'DELETE',
  path: '/personal_access_tokens/self',
  summary: 'Revoke the token of the request',
  area,
  audience: 'user',
  params: object({}),
  reply: null,
  handle: async (call) => await revoke(call, await loadOwnToken(call)),
});

const revokePersonal = endpoint({
  method: 'DELETE',
  path: '/personal_access_tokens/:id',
  summary: 'Revoke a personal access token',
  area,
  audience: 'user',
  params: object({ id: id() }),
  reply: null,
  handle: async (call, params) => await revoke(call, await findPersonal(call, params.id)),
});

const rotated = async (call: Call, token: TokenRow, expires_at: string | null = null) => {
  const made = await rotateToken(call, token, expires_at);
  return await newTokenJson(call, made, { kind: token.kind as TokenKind, user_id: token.user_id });
};

const { expires_at: rotatedExpiry } = newToken;

const rotateSelf = endpoint({
  method: 'POST',
  path: '/personal_access_tokens/self/rotate',
  summary: 'Rotate the token of the request',
  area,
  audience: 'user',
  params: object({ expires_at: rotatedExpiry }),
  reply: newTokenShape,
  handle: async (call, { expires_at }) => await rotated(call, await loadOwnToken(call), expires_at),
});

const rotatePersonal = endpoint({
  method: 'POST',
  path: '/personal_access_tokens/:id/rotate',
  summary: 'Rotate a personal access token',
  area,
  audience: 'user',
  params: object({ id: id(), expires_at: rotatedExpiry }),
  reply: newTokenShape,
  handle: async (call, params) => await rotated(call, await findPersonal(call, params.id), params.expires_at),
});

export const tokenRoutes = [
  listImpersonation,
  createImpersonation,
  oneImpersonation,
  revokeImpersonation,
  createPersonal,
  createOwn,
  listPersonal,
  self,
  onePersonal,
  revokeSelf,
  revokePersonal,
  rotateSelf,
  rotatePersonal,
];
