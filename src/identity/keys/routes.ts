/** SSH keys of users. */
import { type Call, requireUser } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { invalid } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { clearable, id, object, oneOf, optional, text, time } from '../../platform/http/schema.ts';
import { basicUsersById } from '../users/json.ts';
import { loadUser } from '../users/queries.ts';
import { createKey } from './create.ts';
import { deleteKey } from './delete.ts';
import {
  deployKeyWithProjectsJson,
  keyJson,
  keyShape,
  keyWithUserJson,
  keyWithUserShape,
  publicKeyJson,
  publicKeyShape,
} from './json.ts';
import { keyUsages } from './rules.ts';
import { type KeyRow, findAnyKey, findKey, listKeys, listDeployKeyProjects } from './queries.ts';

const area = 'keys';
const scopes = ['read_user'];
const key_id = id();

const newKey = {
  title: optional(text({ description: 'default: the comment of the key' })),
  key: text({ maxLength: 5_000, description: 'one line: type, base64, comment' }),
  expires_at: optional(clearable(time('expiration time; the key cannot sign in afterwards'))),
  usage_type: optional(oneOf(keyUsages, { description: 'a key for `signing` cannot be used to sign in' })),
};

const listOwn = endpoint({
  method: 'GET',
  path: '/user/keys',
  summary: 'List your SSH keys',
  area,
  audience: 'user',
  scopes,
  list: true,
  params: object({ ...pageParams }),
  reply: keyShape,
  handle: async (call, params) => {
    const { items, total } = await listKeys(call.db, requireUser(call).id, pageRequest(params));
    return { items: items.map(keyJson), total };
  },
});

const getOwn = endpoint({
  method: 'GET',
  path: '/user/keys/:key_id',
  summary: 'Get one of your SSH keys',
  area,
  audience: 'user',
  scopes,
  params: object({ key_id }),
  reply: keyShape,
  handle: async (call, params) => keyJson(await findKey(call.db, requireUser(call).id, params.key_id)),
});

const createOwn = endpoint({
  method: 'POST',
  path: '/user/keys',
  summary: 'Add an SSH key',
  area,
  audience: 'user',
  params: object(newKey),
  reply: keyShape,
  handle: async (call, params) => keyJson(await createKey(call, requireUser(call).id, params)),
});

const removeOwn = endpoint({
  method: 'DELETE',
  path: '/user/keys/:key_id',
  summary: 'Delete one of your SSH keys',
  area,
  audience: 'user',
  params: object({ key_id }),
  reply: null,
  handle: async (call, params) => await deleteKey(call, requireUser(call).id, params.key_id),
});

const listOfUser = endpoint({
  method: 'GET',
  path: '/users/:id/keys',
  summary: 'List SSH keys of a user',
  area,
  audience: 'user',
  list: true,
  params: object({ id: id(), ...pageParams }),
  reply: publicKeyShape,
  handle: async ({ db }, params) => {
    await loadUser(db, params.id);
    const { items, total } = await listKeys(db, params.id, pageRequest(params));
    return { items: items.map(publicKeyJson), total };
  },
});

const getOfUser = endpoint({
  method: 'GET',
  path: '/users/:id/keys/:key_id',
  summary: 'Get an SSH key of a user',
  area,
  audience: 'user',
  params: object({ id: id(), key_id }),
  reply: publicKeyShape,
  handle: async ({ db }, params) => {
    await loadUser(db, params.id);
    return publicKeyJson(await findKey(db, params.id, params.key_id));
  },
});

const createOfUser = endpoint({
  method: 'POST',
  path: '/users/:id/keys',
  summary: 'Add an SSH key to a user (administrators)',
  area,
  audience: 'admin',
  params: object({ id: id(), ...newKey }),
  reply: keyShape,
  handle: async (call, { id: user, ...params }) => keyJson(await createKey(call, user, params)),
});

const removeOfUser = endpoint({
  method: 'DELETE',
  path: '/users/:id/keys/:key_id',
  summary: 'Delete an SSH key of a user (administrators)',
  area,
  audience: 'admin',
  params: object({ id: id(), key_id }),
  reply: null,
  handle: async (call, params) => {
    await loadUser(call.db, params.id);
    await deleteKey(call, params.id, params.key_id);
  },
});

const withUser = async (call: Call, key: KeyRow) => {
  const user =
    key.user_id === null ? undefined : (await basicUsersById(call.db, [key.user_id])).get(key.user_id);
  if (user !== undefined) return keyWithUserJson(key, user, call);
  return deployKeyWithProjectsJson(key, await listDeployKeyProjects(call.db, key.id));
};

const getAny = endpoint({
  method: 'GET',
  path: '/keys/:id',
  summary: 'Get an SSH key with its user (administrators)',
  area,
  audience: 'admin',
  params: object({ id: id() }),
  reply: keyWithUserShape,
  handle: async (call, params) => await withUser(call, await findAnyKey(call.db, 'id', params.id)),
});

const findByFingerprint = async ({ db }: Call, fingerprint: string): Promise<KeyRow> => {
  const [, sha256] = /^SHA256:([A-Za-z0-9+/]{43})=?$/.exec(fingerprint) ?? [];
  if (sha256 !== undefined) return await findAnyKey(db, 'fingerprint_sha256', sha256);
  const [, md5] = /^(?:MD5:)?([0-9a-f]{2}(?::[0-9a-f]{2}){15})$/i.exec(fingerprint) ?? [];
  if (md5 === undefined) throw invalid({ fingerprint: ['is invalid'] });
  return await findAnyKey(db, 'fingerprint', md5.toLowerCase());
};

const getByFingerprint = endpoint({
  method: 'GET',
  path: '/keys',
  summary: 'Get an SSH key with its user by fingerprint (administrators)',
  area,
  audience: 'admin',
  params: object({ fingerprint: text({ description: '`SHA256:...` or MD5 with colons' }) }),
  reply: keyWithUserShape,
  handle: async (call, params) =>
    await withUser(call, await findByFingerprint(call, params.fingerprint.trim())),
});

export const keyRoutes = [
  listOwn,
  getOwn,
  createOwn,
  removeOwn,
  listOfUser,
  getOfUser,
  createOfUser,
  removeOfUser,
  getByFingerprint,
  getAny,
];
