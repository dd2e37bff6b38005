import type { Site } from '../../core/access/site.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import { keepUntilChange } from '../../platform/db/keep_until_change.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { UsersTable } from '../../platform/db/schema/identity.ts';
import {
  array,
  bool,
  int,
  nullable,
  object,
  optional,
  string,
  timestamp,
} from '../../platform/http/schema.ts';
import { userAvatarUrl } from '../avatars/avatar_urls.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import { type PersonalNamespace, type UserRow, identitiesByUser, personalNamespaces } from './queries.ts';

/** A user as embedded in other records. */
export const basicUserShape = object({
  id: int,
  name: string,
  username: string,
  state: string,
  avatar_url: nullable(string),
  web_url: string,
});

export type BasicUserRow = { id: number } & Pick<UsersTable, 'name' | 'username' | 'state' | 'email'> & {
    avatar: string | null;
  };

export const basicUserColumns = [
  'users.id',
  'users.name',
  'users.username',
  'users.state',
  'users.email',
  'users.avatar',
] as const;

export const basicUser = (user: BasicUserRow, site: Site) => ({
  id: user.id,
  name: user.name,
  username: user.username,
  state: user.state,
  avatar_url: userAvatarUrl(site, user),
  web_url: `${site.baseUrl}/${user.username}`,
});

const selectBasicUsers = compiled((db, { ids }: { ids: readonly number[] }, dialect) =>
  db.selectFrom('users').select(basicUserColumns).where(dialect.oneOf('users.id', ids)).compile(),
);

/** Loads the users of these ids for embedding, in one statement. */
export const basicUsersById = async (
  db: Reader,
  ids: Iterable<number>,
): Promise<Map<number, BasicUserRow>> => {
  const requestedIds = [...new Set(ids)];
  if (requestedIds.length === 0) return new Map();
  const rows = await selectBasicUsers(db, { ids: requestedIds });
  return new Map(rows.map((row) => [row.id, row]));
};

/** Sets of users in memory, and the most users of one. */
const maxSets = 1_000;
const maxKeptUsers = 20;

const keepUsers = keepUntilChange<ReadonlyMap<number, BasicUserRow>>(['users'], maxSets);

/** Like `basicUsersById`, and keeps the users until one changes. Callers share them. */
export const keptUsersById = async (
  db: Reader,
  ids: readonly number[],
): Promise<ReadonlyMap<number, BasicUserRow>> => {
  if (ids.length === 0 || ids.length > maxKeptUsers) return await basicUsersById(db, ids);
  return await keepUsers(db, ids.join(), async () => await basicUsersById(db, ids));
};

const profile = {
  created_at: timestamp,
  bio: nullable(string),
  location: nullable(string),
  public_email: nullable(string),
  skype: nullable(string),
  linkedin: nullable(string),
  twitter: nullable(string),
  website_url: nullable(string),
  organization: nullable(string),
};

/** Attributes that the user and administrators see. */
const account = {
  locked: bool,
  namespace_id: optional(int),
  last_sign_in_at: nullable(timestamp),
  confirmed_at: nullable(timestamp),
  last_activity_on: nullable(string),
  email: string,
  theme_id: int,
  color_scheme_id: int,
  projects_limit: int,
  current_sign_in_at: nullable(timestamp),
  identities: array(object({ provider: string, extern_uid: string })),
  can_create_group: bool,
  can_create_project: bool,
  two_factor_enabled: bool,
  external: bool,
};

/** Further attributes that administrators see. */
const administration = { is_admin: optional(bool), note: optional(nullable(string)) };

const maybe = (properties: Record<string, Parameters<typeof optional>[0]>) =>
  Object.fromEntries(Object.entries(properties).map(([name, shape]) => [name, optional(shape)]));

/** The caller's account, and any account for administrators. */
export const accountShape = object({
  ...basicUserShape.properties,
  ...profile,
  ...account,
  ...administration,
});

/** Attributes that everybody sees. */
export const publicProfileShape = object({ ...basicUserShape.properties, ...profile });

/** One user: the profile, or for administrators the account. */
export const profileShape = object({
  ...basicUserShape.properties,
  ...profile,
  ...maybe(account),
  ...administration,
});

/** A listed user: the basic attributes, or for administrators the account. */
export const listedUserShape = object({
  ...basicUserShape.properties,
  ...maybe(profile),
  ...maybe(account),
  ...administration,
});

export const publicProfile = (user: UserRow, site: Site) => ({
  ...basicUser(user, site),
  created_at: formatTime(user.created_at),
  bio: user.bio,
  location: user.location,
  public_email: user.public_email,
  skype: user.skype,
  linkedin: user.linkedin,
  twitter: user.twitter,
  website_url: user.website_url,
  organization: user.organization,
});

type Identity = { provider: string; extern_uid: string };

/** Attributes of an account from other tables. */
type Related = { namespace: PersonalNamespace | undefined; identities: Identity[] };

const toAccount = (user: UserRow, { namespace, identities }: Related, site: Site) => {
  const signedInAt = formatTimeOrNull(user.last_sign_in_at);
  return {
    ...publicProfile(user, site),
    locked: false,
    ...(namespace !== undefined && { namespace_id: namespace.id }),
    last_sign_in_at: signedInAt,
    confirmed_at: formatTime(user.created_at),
    last_activity_on: user.last_activity_on,
    email: user.email,
    theme_id: 1,
    color_scheme_id: 1,
    projects_limit: user.projects_limit,
    current_sign_in_at: signedInAt,
    identities,
    can_create_group: user.can_create_group === 1,
    can_create_project: (namespace?.projects ?? 0) < user.projects_limit,
    two_factor_enabled: user.two_factor_enabled === 1,
    external: user.external === 1,
  };
};

/** Returns the accounts of users as JSON; `administered`: as an administrator sees them. */
export const accounts = async (
  db: Reader,
  users: readonly UserRow[],
  site: Site,
  { administered }: { administered: boolean },
) => {
  const ids = users.map(({ id }) => id);
  const [namespaces, identities] = await Promise.all([
    personalNamespaces(db, ids),
    identitiesByUser(db, ids),
  ]);
  const getRelated = (id: number): Related => ({
    namespace: namespaces.get(id),
    identities: identities.get(id) ?? [],
  });
  return users.map((user) => ({
    ...toAccount(user, getRelated(user.id), site),
    ...(administered && { is_admin: user.admin === 1, note: user.note }),
  }));
};
