import { type Call, requireActor, requireUser } from '../../core/access/call.ts';
import type { ParamsOf } from '../../platform/http/endpoint.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import type { Tx } from '../../platform/db/open.ts';
import { missingAttribute, nothingToChange } from '../../platform/errors.ts';
import {
  bool,
  boolean,
  clearable,
  id,
  integer,
  longText,
  object,
  optional,
  text,
} from '../../platform/http/schema.ts';
import { avatarParam, withAvatar } from '../avatars/store_avatar.ts';
import { avatarRoutes } from './avatar/routes.ts';
import { setBlocked } from './block.ts';
import { type UserInput, createUser } from './create.ts';
import { deleteUser } from './delete.ts';
import { accountShape, accounts, listedUserShape, profileShape, publicProfile } from './json.ts';
import { listUsers, userListParams } from './list.ts';
import { loadUser } from './queries.ts';
import { maxPasswordLength } from './rules.ts';
import { updateUser } from './update.ts';

const area = 'users';
const scopes = ['read_user'];
const userId = object({ id: id() });

/** Returns the account of a user as an administrator sees it. */
const administratorJson = async (call: Call, user: number) => {
  const { db } = call;
  const [account] = await accounts(db, [await loadUser(db, user)], call, { administered: true });
  return account;
};

const currentUser = endpoint({
  method: 'GET',
  cached: true,
  path: '/user',
  summary: 'Get the signed-in user',
  area,
  audience: 'user',
  scopes,
  params: object({}),
  reply: accountShape,
  handle: async (call) => {
    const { db, admin } = call;
    const [account] = await accounts(db, [await loadUser(db, requireUser(call).id)], call, {
      administered: admin,
    });
    return account;
  },
});

const list = endpoint({
  method: 'GET',
  path: '/users',
  summary: 'List users',
  area,
  audience: 'user',
  scopes,
  list: true,
  cached: true,
  params: userListParams,
  reply: listedUserShape,
  handle: async (call, params) => await listUsers(call, params),
});

const show = endpoint({
  method: 'GET',
  path: '/users/:id',
  summary: 'Get a user',
  area,
  audience: 'user',
  scopes,
  params: userId,
  reply: profileShape,
  handle: async (call, params) => {
    if (call.admin) return await administratorJson(call, params.id);
    return publicProfile(await loadUser(call.db, params.id), call);
  },
});

const attributes = {
  password: optional(text({ maxLength: maxPasswordLength })),
  skype: optional(clearable(text())),
  linkedin: optional(clearable(text())),
  twitter: optional(clearable(text())),
  website_url: optional(clearable(text())),
  organization: optional(clearable(text())),
  projects_limit: optional(integer({ minimum: 0, maximum: 2_147_483_647 })),
  bio: optional(clearable(text())),
  location: optional(clearable(text())),
  public_email: optional(clearable(text())),
  admin: optional(boolean()),
  can_create_group: optional(boolean()),
  external: optional(boolean()),
  note: optional(clearable(longText())),
  provider: optional(text({ description: 'sign-in provider; requires `extern_uid`' })),
  extern_uid: optional(text({ description: 'account at the provider; requires `provider`' })),
  avatar: avatarParam,
};

/** Links a user to an account at a sign-in provider. */
type AssignIdentity = (
  tx: Tx,
  call: Call,
  identity: { user_id: number; provider: string; extern_uid: string },
) => Promise<void>;

type IdentityParams = { provider?: string | undefined; extern_uid?: string | undefined };

/**
 * Returns a function that stores the identity of the parameters in the user's transaction; undefined: they contain
 * none.
 * @throws Failure 400 if `provider` or `extern_uid` is missing
 */
const identityToStore = (call: Call, assign: AssignIdentity, params: IdentityParams) => {
  const { provider = '', extern_uid = '' } = params;
  if (provider === '' && extern_uid === '') return undefined;
  if (provider === '') throw missingAttribute('provider');
  if (extern_uid === '') throw missingAttribute('extern_uid');
  return async (tx: Tx, user_id: number): Promise<void> =>
    await assign(tx, call, { user_id, provider, extern_uid });
};

const newUser = object({
  email: text(),
  name: text(),
  username: text(),
  ...attributes,
  reset_password: optional(boolean({ description: 'set a random password' })),
  force_random_password: optional(boolean({ description: 'set a random password' })),
  skip_confirmation: optional(boolean({ description: 'accepted: addresses need no confirmation' })),
});

/** Returns the input; a requested random password replaces the sent one. */
const withPassword = (params: Omit<ParamsOf<typeof newUser>, 'avatar'>): UserInput => {
  const { password, reset_password, force_random_password, skip_confirmation: _skip, ...rest } = params;
  if (reset_password === true || force_random_password === true) return rest;
  if (password !== undefined) return { ...rest, password };
  if (reset_password === false || force_random_password === false) return { ...rest, password: '' };
  throw nothingToChange(['password', 'reset_password', 'force_random_password']);
};

const create = (assign: AssignIdentity) =>
  endpoint({
    method: 'POST',
    path: '/users',
    summary: 'Create a user (administrators)',
    area,
    audience: 'admin',
    params: newUser,
    reply: accountShape,
    handle: async (call, { avatar, ...params }) => {
      const also = identityToStore(call, assign, params);
      const input = withPassword(params);
      const id = await withAvatar(
        call.platform,
        avatar,
        async (columns) =>
          await createUser({ ...call.platform, also }, requireActor(call), { ...input, ...columns }),
      );
      return await administratorJson(call, id);
    },
  });

const update = (assign: AssignIdentity) =>
  endpoint({
    method: 'PUT',
    path: '/users/:id',
    summary: 'Update a user (administrators)',
    area,
    audience: 'admin',
    params: object({
      id: id(),
      email: optional(text()),
      name: optional(text()),
      username: optional(text()),
      ...attributes,
      skip_reconfirmation: optional(boolean({ description: 'accepted: addresses need no confirmation' })),
    }),
    reply: accountShape,
    handle: async (call, { id: user, skip_reconfirmation: _skip, avatar, ...params }) => {
      const also = identityToStore(call, assign, params);
      await withAvatar(
        call.platform,
        avatar,
        async (columns) =>
          await updateUser({ ...call.platform, also }, requireActor(call), user, { ...params, ...columns }),
      );
      return await administratorJson(call, user);
    },
  });

const remove = endpoint({
  method: 'DELETE',
  path: '/users/:id',
  summary: 'Delete a user (administrators)',
  area,
  audience: 'admin',
  params: object({
    id: id(),
    hard_delete: optional(
      boolean({ description: 'also delete all contributions and the groups that only this user owns' }),
    ),
  }),
  reply: null,
  handle: async (call, { id: user, hard_delete }) => {
    const unmodified_since = call.header('if-unmodified-since');
    await deleteUser(call.platform.store, requireActor(call), user, { hard_delete, unmodified_since });
  },
});

const blocking = (word: 'block' | 'unblock', summary: string) =>
  endpoint({
    method: 'POST',
    path: `/users/:id/${word}`,
    summary,
    area,
    audience: 'admin',
    params: userId,
    reply: bool,
    handle: async (call, params) => {
      await setBlocked(call.platform.store, requireActor(call), params.id, word === 'block');
      return true;
    },
  });

export const userRoutes = (assign: AssignIdentity) => [
  currentUser,
  list,
  show,
  create(assign),
  update(assign),
  remove,
  blocking('block', 'Block a user (administrators)'),
  blocking('unblock', 'Unblock a user (administrators)'),
  ...avatarRoutes,
];
