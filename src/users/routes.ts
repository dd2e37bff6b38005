import { type Call, type ParamsOf, actorOf, endpoint, userOf } from '../access/call.ts';
import { forbidden, nothingGiven } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import {
  bool,
  boolean,
  clearable,
  id,
  integer,
  integers,
  longText,
  object,
  oneOf,
  optional,
  text,
  time,
} from '../http/schema.ts';
import { setBlocked } from './block.ts';
import { type UserInput, createUser } from './create.ts';
import { deleteUser } from './delete.ts';
import { accountShape, accounts, basicUser, listedUserShape, profileShape, publicProfile } from './json.ts';
import { listUsers, loadUser, userOrders } from './queries.ts';
import { longestPassword } from './rules.ts';
import { updateUser } from './update.ts';

const area = 'users';
const scopes = ['read_user'];
const userId = object({ id: id() });

/** The account of a user as an administrator sees it. */
const administered = async (call: Call, user: number) => {
  const { db } = call;
  const [account] = await accounts(db, [await loadUser(db, user)], call, { administered: true });
  return account;
};

const currentUser = endpoint({
  method: 'GET',
  path: '/user',
  summary: 'The signed-in user',
  area,
  audience: 'user',
  scopes,
  params: object({}),
  reply: accountShape,
  handle: async (call) => {
    const { db, admin } = call;
    const [account] = await accounts(db, [await loadUser(db, userOf(call).id)], call, {
      administered: admin,
    });
    return account;
  },
});

const listParams = object({
  username: optional(text({ description: 'exact user name, in any case' })),
  search: optional(text({ description: 'in names and user names, or a whole e-mail address' })),
  ids: optional(integers()),
  active: optional(boolean({ description: 'only active users' })),
  blocked: optional(boolean({ description: 'only blocked users' })),
  external: optional(boolean({ description: 'only external users; for administrators' })),
  created_after: optional(time()),
  created_before: optional(time()),
  order_by: { ...oneOf(userOrders), default: 'id' as const },
  sort: { ...oneOf(['asc', 'desc']), default: 'desc' as const },
  ...pageParams,
});

/** When a user was changed last is for administrators: it tells of what they do to him. */
const orderOf = ({ order_by, sort }: ParamsOf<typeof listParams>, admin: boolean) =>
  ({ by: order_by === 'updated_at' && !admin ? 'id' : order_by, direction: sort }) as const;

const list = endpoint({
  method: 'GET',
  path: '/users',
  summary: 'Users',
  area,
  audience: 'user',
  scopes,
  list: true,
  params: listParams,
  reply: listedUserShape,
  handle: async (call, params) => {
    const { db, admin } = call;
    if (params.external === true && !admin) throw forbidden();
    const page = pageRequest(params);
    const { rows, total } = await listUsers(db, {
      filter: params,
      order: orderOf(params, admin),
      page,
      admin,
    });
    if (!admin) return { items: rows.map((user) => basicUser(user, call)), total };
    return { items: await accounts(db, rows, call, { administered: true }), total };
  },
});

const one = endpoint({
  method: 'GET',
  path: '/users/:id',
  summary: 'One user',
  area,
  audience: 'user',
  scopes,
  params: userId,
  reply: profileShape,
  handle: async (call, params) => {
    if (call.admin) return await administered(call, params.id);
    return publicProfile(await loadUser(call.db, params.id), call);
  },
});

const attributes = {
  password: optional(text({ maxLength: longestPassword })),
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
};

const newUser = object({
  email: text(),
  name: text(),
  username: text(),
  ...attributes,
  reset_password: optional(boolean({ description: 'sets a password that nobody knows' })),
  force_random_password: optional(boolean({ description: 'sets a password that nobody knows' })),
  skip_confirmation: optional(boolean({ description: 'accepted; addresses need no confirmation' })),
});

/** A password that was asked to be random is not the one given. */
const withPassword = (params: ParamsOf<typeof newUser>): UserInput => {
  const { password, reset_password, force_random_password, skip_confirmation: _skip, ...rest } = params;
  if (reset_password === true || force_random_password === true) return rest;
  if (password !== undefined) return { ...rest, password };
  if (reset_password === false || force_random_password === false) return { ...rest, password: '' };
  throw nothingGiven(['password', 'reset_password', 'force_random_password']);
};

const create = endpoint({
  method: 'POST',
  path: '/users',
  summary: 'Create a user',
  area,
  audience: 'admin',
  params: newUser,
  reply: accountShape,
  handle: async (call, params) =>
    await administered(call, await createUser(call.platform, actorOf(call), withPassword(params))),
});

const update = endpoint({
  method: 'PUT',
  path: '/users/:id',
  summary: 'Change a user',
  area,
  audience: 'admin',
  params: object({
    id: id(),
    email: optional(text()),
    name: optional(text()),
    username: optional(text()),
    ...attributes,
    skip_reconfirmation: optional(boolean({ description: 'accepted; addresses need no confirmation' })),
  }),
  reply: accountShape,
  handle: async (call, { id: user, skip_reconfirmation: _skip, ...input }) => {
    await updateUser(call.platform, actorOf(call), user, input);
    return await administered(call, user);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/users/:id',
  summary: 'Delete a user',
  area,
  audience: 'admin',
  params: object({
    id: id(),
    hard_delete: optional(
      boolean({ description: 'with all that he wrote, and the groups that he alone owns' }),
    ),
  }),
  reply: null,
  handle: async (call, { id: user, hard_delete }) => {
    const unmodified_since = call.header('if-unmodified-since');
    await deleteUser(call.platform.store, actorOf(call), user, { hard_delete, unmodified_since });
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
      await setBlocked(call.platform.store, actorOf(call), params.id, word === 'block');
      return true;
    },
  });

export const userRoutes = [
  currentUser,
  list,
  one,
  create,
  update,
  remove,
  blocking('block', 'Shut a user out'),
  blocking('unblock', 'Let a user in again'),
];
