/** OpenPGP keys of users, by which signatures of commits are verified. */
import { requireUser } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { Answer } from '../../platform/http/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { id, int, object, string, text, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { loadUser } from '../users/queries.ts';
import { createGpgKey, maxGpgKeyLength, removeGpgKey } from './change.ts';
import { type GpgKeyRow, findGpgKey, listGpgKeys } from './queries.ts';

const area = 'keys';
const scopes = ['read_user'];
const key_id = id();
const key = text({ maxLength: maxGpgKeyLength, description: 'armored public key' });
const reply = object({ id: int, key: string, created_at: timestamp });

const gpgKeyJson = (row: GpgKeyRow) => ({ id: row.id, key: row.key, created_at: formatTime(row.created_at) });

const accepted = (): Answer => new Answer(null, { status: 202 });

const listOwn = endpoint({
  method: 'GET',
  path: '/user/gpg_keys',
  summary: 'List your GPG keys',
  area,
  audience: 'user',
  scopes,
  list: true,
  params: object({ ...pageParams }),
  reply,
  handle: async (call, params) => {
    const page = await listGpgKeys(call.db, requireUser(call).id, pageRequest(params));
    return { ...page, items: page.items.map(gpgKeyJson) };
  },
});

const getOwn = endpoint({
  method: 'GET',
  path: '/user/gpg_keys/:key_id',
  summary: 'Get one of your GPG keys',
  area,
  audience: 'user',
  scopes,
  params: object({ key_id }),
  reply,
  handle: async (call, params) => gpgKeyJson(await findGpgKey(call.db, requireUser(call).id, params.key_id)),
});

const createOwn = endpoint({
  method: 'POST',
  path: '/user/gpg_keys',
  summary: 'Add a GPG key',
  area,
  audience: 'user',
  params: object({ key }),
  reply,
  handle: async (call, params) => gpgKeyJson(await createGpgKey(call, requireUser(call).id, params.key)),
});

const removeOwn = endpoint({
  method: 'DELETE',
  path: '/user/gpg_keys/:key_id',
  summary: 'Delete one of your GPG keys',
  area,
  audience: 'user',
  params: object({ key_id }),
  reply: null,
  handle: async (call, params) => await removeGpgKey(call, requireUser(call).id, { id: params.key_id }),
});

const revokeOwn = endpoint({
  method: 'POST',
  path: '/user/gpg_keys/:key_id/revoke',
  summary: 'Revoke and delete one of your GPG keys',
  area,
  audience: 'user',
  params: object({ key_id }),
  reply: null,
  handle: async (call, params) => {
    await removeGpgKey(call, requireUser(call).id, { id: params.key_id, isRevoked: true });
    return accepted();
  },
});

const listOfUser = endpoint({
  method: 'GET',
  path: '/users/:id/gpg_keys',
  summary: 'List GPG keys of a user',
  area,
  audience: 'user',
  list: true,
  params: object({ id: id(), ...pageParams }),
  reply,
  handle: async ({ db }, params) => {
    await loadUser(db, params.id);
    const page = await listGpgKeys(db, params.id, pageRequest(params));
    return { ...page, items: page.items.map(gpgKeyJson) };
  },
});

const getOfUser = endpoint({
  method: 'GET',
  path: '/users/:id/gpg_keys/:key_id',
  summary: 'Get a GPG key of a user',
  area,
  audience: 'user',
  params: object({ id: id(), key_id }),
  reply,
  handle: async ({ db }, params) => {
    await loadUser(db, params.id);
    return gpgKeyJson(await findGpgKey(db, params.id, params.key_id));
  },
});

const createOfUser = endpoint({
  method: 'POST',
  path: '/users/:id/gpg_keys',
  summary: 'Add a GPG key to a user (administrators)',
  area,
  audience: 'admin',
  params: object({ id: id(), key }),
  reply,
  handle: async (call, params) => gpgKeyJson(await createGpgKey(call, params.id, params.key)),
});

const removeOfUser = endpoint({
  method: 'DELETE',
  path: '/users/:id/gpg_keys/:key_id',
  summary: 'Delete a GPG key of a user (administrators)',
  area,
  audience: 'admin',
  params: object({ id: id(), key_id }),
  reply: null,
  handle: async (call, params) => await removeGpgKey(call, params.id, { id: params.key_id }),
});

const revokeOfUser = endpoint({
  method: 'POST',
  path: '/users/:id/gpg_keys/:key_id/revoke',
  summary: 'Revoke and delete a GPG key of a user (administrators)',
  area,
  audience: 'admin',
  params: object({ id: id(), key_id }),
  reply: null,
  handle: async (call, params) => {
    await removeGpgKey(call, params.id, { id: params.key_id, isRevoked: true });
    return accepted();
  },
});

export const gpgKeyRoutes = [
  listOwn,
  getOwn,
  createOwn,
  removeOwn,
  revokeOwn,
  listOfUser,
  getOfUser,
  createOfUser,
  removeOfUser,
  revokeOfUser,
];
