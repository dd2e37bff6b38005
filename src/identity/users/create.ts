import type { Insertable } from 'kysely';
import type { Store, Tx } from '../../platform/db/open.ts';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import type { UsersTable } from '../../platform/db/schema/identity.ts';
import { conflict, invalid } from '../../platform/errors.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { retryOnTakenName } from '../namespaces/claim_path.ts';
import { insertPersonalNamespace, isRouteTaken } from '../namespaces/create.ts';
import { readSettings } from '../../core/settings/settings_store.ts';
import { hashPassword } from './password.ts';
import { takeAddress } from './addresses/further_addresses.ts';
import { userIdByEmail, userIdByName } from './queries.ts';
import { normalizedEmail, userProblems } from './rules.ts';
import { searchText } from './search_text.ts';

type Row = Insertable<UsersTable>;
type RequiredColumn = 'username' | 'name' | 'email' | 'password_hash';

export type NewUser = Pick<Row, RequiredColumn> &
  Partial<
    Omit<Row, RequiredColumn | 'id' | 'created_at' | 'updated_at' | 'search_text' | 'projects_limit'>
  > & {
    /** Default: the instance's limit for new users. */
    projects_limit?: number | undefined;
  };

/** Returns the instance's current limit for users without an individual limit. */
export const defaultProjectsLimit = async ({ db }: Tx): Promise<number> =>
  (await readSettings(db)).settings.default_projects_limit;

/**
 * Stores a user with the personal namespace and returns the id. The input must have been checked
 * (`identity/users/rules.ts`).
 */
export const insertUser = async (tx: Tx, cause: Cause | null, user: NewUser): Promise<number> => {
  const { id } = await tx.db
    .insertInto('users')
    .values({
      state: 'active',
      admin: 0,
      external: 0,
      can_create_group: 1,
      bio: null,
      location: null,
      skype: null,
      linkedin: null,
      twitter: null,
      website_url: null,
      organization: null,
      public_email: null,
      note: null,
      last_sign_in_at: null,
      last_activity_on: null,
      ...user,
      projects_limit: user.projects_limit ?? (await defaultProjectsLimit(tx)),
      search_text: searchText(user),
      created_at: tx.now,
      updated_at: tx.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await insertPersonalNamespace(tx, { owner_id: id, path: user.username, name: user.name });
  await recordEvent(tx, cause, {
    kind: 'user.created',
    project_id: null,
    target_type: 'User',
    target_id: id,
  });
  return id;
};

/** The parts that create users, also outside a request. */
export type UserParts = {
  store: Store;
  random: (bytes: number) => Buffer;
  /** Stores further data of the user in the same transaction. */
  also?: ((tx: Tx, userId: number) => Promise<void>) | undefined;
};

/** Profile texts that nothing depends on. */
const profileFields = [
  'bio',
  'location',
  'skype',
  'linkedin',
  'twitter',
  'website_url',
  'organization',
  'note',
] as const;

type ProfileField = (typeof profileFields)[number];

export type Profile = { [N in ProfileField]?: string | null };

/** Picks the profile texts of an input. */
export const pickProfile = (input: Profile): Profile =>
  Object.fromEntries(
    profileFields.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])),
  );

export type UserInput = {
  email: string;
  name: string;
  username: string;
  /** null: none, as for a user who signs in through a provider. */
  password?: string | null;
  admin?: boolean;
  external?: boolean;
  can_create_group?: boolean;
  projects_limit?: number;
  public_email?: string | null;
  /** Column of the stored avatar (`identity/avatars/`). */
  avatar?: string | null;
  /** True if the address was never verified. */
  email_unchecked?: boolean;
} & Profile;

/** Generates an unknown password: until another one is set, only tokens work. */
export const randomPassword = (random: (bytes: number) => Buffer): string => random(24).toString('base64url');

/**
 * Requires that no other user has the name or the address.
 * @returns whether the address was a confirmed further one of the user
 * @throws Failure 409 if another user has one of them, 400 if a group has the name
 */
export const requireFree = async (
  tx: Tx,
  { email, username }: { email?: string | undefined; username?: string | undefined },
  own: { id: number; username: string } | null,
): Promise<boolean> => {
  const byEmail = email === undefined ? undefined : await userIdByEmail(tx.db, email);
  const further = email === undefined ? 'free' : await takeAddress(tx, email, own?.id ?? null);
  if (further === 'taken' || (byEmail !== undefined && byEmail !== own?.id))
    throw conflict('Email has already been taken');
  const isOwn = further === 'own';
  if (username === undefined || username.toLowerCase() === own?.username.toLowerCase()) return isOwn;
  // The route is read first, so that for a concurrently created user either both or neither is visible.
  const isTaken = await isRouteTaken(tx, username);
  if ((await userIdByName(tx.db, username)) !== undefined) throw conflict('Username has already been taken');
  if (isTaken) throw invalid({ username: ['has already been taken'] });
  return isOwn;
};

/** Requires that the public address is one of the user's own. */
export const requireOwnAddress = (publicEmail: string | null | undefined, own: readonly string[]): void => {
  const isOwn = (publicEmail ?? '') === '' || own.includes(normalizedEmail(publicEmail ?? ''));
  if (!isOwn) throw invalid({ public_email: ['is not an email you own'] });
};

/** Returns the rights of a new user. External users create neither groups nor projects. */
const getNewRights = ({
  admin = false,
  external = false,
  can_create_group = true,
  projects_limit,
}: UserInput) => ({
  admin: toFlag(admin),
  external: toFlag(external),
  can_create_group: toFlag(can_create_group && !external),
  projects_limit: external ? 0 : projects_limit,
});

/**
 * Creates a user with a personal namespace.
 * @param input without a password: a random one that nobody knows
 * @returns the id
 * @throws Failure 400 for invalid attributes, 409 for a name or address in use
 */
export const createUser = async (
  { store, random, also }: UserParts,
  cause: Cause | null,
  input: UserInput,
): Promise<number> => {
  const problems = userProblems(input);
  if (Object.keys(problems).length > 0) throw invalid(problems);
  const { password = randomPassword(random), username, public_email, email_unchecked = false } = input;
  const email = normalizedEmail(input.email);
  requireOwnAddress(public_email, [email]);
  const password_hash = password === null ? null : await hashPassword(password, random);
  const names = { username, email, name: input.name.trim(), public_email: public_email ? email : null };
  const checked = { email_unchecked: toFlag(email_unchecked) };
  const { avatar = null } = input;
  const user = { ...pickProfile(input), ...names, ...checked, ...getNewRights(input), avatar, password_hash };
  return await retryOnTakenName({ platform: { store } }, async (tx) => {
    await requireFree(tx, { email, username }, null);
    const id = await insertUser(tx, cause, user);
    await also?.(tx, id);
    return id;
  });
};
