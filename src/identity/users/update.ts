import type { Tx } from '../../platform/db/open.ts';
import { type Flag, toFlag } from '../../platform/db/schema/column_types.ts';
import { forbidden, invalid } from '../../platform/errors.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { enqueueAvatarRemoval, hideAvatar } from '../avatars/store_avatar.ts';
import { compareColumns } from '../../core/events/compare_columns.ts';
import { retryOnTakenName } from '../namespaces/claim_path.ts';
import { renameRoutes } from '../namespaces/rename.ts';
import {
  type Profile,
  type UserInput,
  type UserParts,
  defaultProjectsLimit,
  pickProfile,
  requireFree,
  requireOwnAddress,
} from './create.ts';
import { endAllSessions } from './end_sessions.ts';
import { loadConfirmedAddressesById } from './addresses/further_addresses.ts';
import { requireOtherAdmin } from './require_other_admin.ts';
import { hashPassword } from './password.ts';
import { type UserRow, lockUser } from './queries.ts';
import { normalizedEmail, passwordProblem, userProblems } from './rules.ts';
import { searchText } from './search_text.ts';

type Name = 'username' | 'name' | 'email' | 'public_email' | 'avatar';
type Right = 'admin' | 'external' | 'can_create_group' | 'projects_limit';
type Values = Profile & Partial<Pick<UserRow, Name | Right>>;
type Stored = Values & { email_unchecked?: Flag };
type Maybe<T> = { [K in keyof T]?: T[K] | undefined };

const dropUndefined = <T extends object>(values: Maybe<T>): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;

const toFlagIfSet = (value: boolean | undefined): Flag | undefined =>
  value === undefined ? undefined : toFlag(value);

/** A password can be changed but not removed. */
export type UserChanges = Omit<Partial<UserInput>, 'password'> & { password?: string };

/**
 * Returns the changed rights. A user who becomes external loses the rights to create; one who ceases to be gets the
 * defaults back.
 */
const getChangedRights = async (tx: Tx, user: UserRow, input: UserChanges): Promise<Maybe<Values>> => {
  const { external, can_create_group, projects_limit } = input;
  if (external === true && user.external === 0)
    return { external: 1, can_create_group: 0, projects_limit: 0 };
  if (external === false && user.external === 1) {
    const usual = {
      can_create_group: toFlag(can_create_group ?? true),
      projects_limit: projects_limit ?? (await defaultProjectsLimit(tx)),
    };
    return { external: 0, ...usual };
  }
  return { can_create_group: toFlagIfSet(can_create_group), projects_limit };
};

/** True if users change their own account, not an administrator in their name. */
const isOwnWord = (cause: Cause | null, id: number): boolean =>
  cause !== null && cause.user.id === id && cause.sudo_by_id === null;

/** Returns the addresses that may be public: confirmed ones, and one that an administrator gives. */
const listShowable = async (
  { db }: Tx,
  user: UserRow,
  { email, isOwn }: { email: string; isOwn: boolean },
): Promise<string[]> => {
  const confirmed = await loadConfirmedAddressesById(db, user.id);
  if (email === user.email) return confirmed;
  const further = confirmed.filter((address) => address !== user.email.toLowerCase());
  return isOwn ? further : [email, ...further];
};

/** Returns the requested column values. @param isOwn users change their own account */
const getRequestedValues = async (
  tx: Tx,
  user: UserRow,
  { isOwn, ...input }: UserChanges & { isOwn: boolean },
): Promise<Values> => {
  const { username, name, public_email, admin } = input;
  const email = input.email === undefined ? user.email : normalizedEmail(input.email);
  const own = await listShowable(tx, user, { email, isOwn });
  if (public_email !== undefined) requireOwnAddress(public_email, own);
  const shown = public_email === undefined ? user.public_email : normalizedEmail(public_email ?? '');
  const names = {
    username,
    name: name?.trim(),
    email,
    public_email: shown !== null && own.includes(shown) ? shown : null,
  };
  return dropUndefined<Values>({
    ...pickProfile(input),
    ...names,
    ...(await getChangedRights(tx, user, input)),
    admin: toFlagIfSet(admin),
    avatar: input.avatar,
  });
};

/** Adds whether a new address is unverified. @param isConfirmed it was a confirmed further address of the user */
const addEmailMark = (
  cause: Cause | null,
  id: number,
  { changes, isConfirmed }: { changes: Values; isConfirmed: boolean },
): Stored => {
  if (changes.email === undefined) return changes;
  return { ...changes, email_unchecked: toFlag(isOwnWord(cause, id) && !isConfirmed) };
};

/** Renames the personal namespace with its user, and moves everything below it. */
const renameNamespace = async (tx: Tx, user: UserRow, { username, name }: Values): Promise<void> => {
  if (username === undefined && name === undefined) return;
  const namespace = await tx.db
    .updateTable('namespaces')
    .set({
      updated_at: tx.now,
      ...(username !== undefined && { path: username }),
      ...(name !== undefined && { name }),
    })
    .where('owner_id', '=', user.id)
    .where('kind', '=', 'user')
    .returning(['id', 'full_path'])
    .executeTakeFirstOrThrow();
  if (username !== undefined) await renameRoutes(tx, namespace.id, namespace.full_path, username);
};

const storeChanges = async (
  tx: Tx,
  user: UserRow,
  changes: Stored,
  password_hash: string | null,
): Promise<void> => {
  const search_text = searchText({ ...user, ...changes });
  await tx.db
    .updateTable('users')
    .set({ ...changes, ...(password_hash !== null && { password_hash }), search_text, updated_at: tx.now })
    .where('id', '=', user.id)
    .execute();
  await renameNamespace(tx, user, changes);
};

const requireGoodPassword = ({ username, name, email }: UserRow, password: string | undefined): void => {
  const problem = password === undefined ? null : passwordProblem(password, [username, name, email]);
  if (problem !== null) throw invalid({ password: [problem] });
};

/** Returns the entry of the change log: it names a changed password or address without the value. */
const toChangeLog = (data: Record<string, [unknown, unknown]>, isNewPassword: boolean): object => {
  const secret = Object.keys(data).filter((name) => name.endsWith('email'));
  const hidden = [...secret, ...(isNewPassword ? ['password'] : [])].map((name) => [name, []]);
  return hideAvatar({ ...data, ...Object.fromEntries(hidden) });
};

/**
 * Changes the attributes of a user that are sent. A new user name moves the personal namespace; a new password ends
 * all sessions.
 * @throws Failure 404 for an unknown user, 403 for the ghost, 400 and 409 as for new users, 409 for the last
 * administrator
 */
export const updateUser = async (
  parts: UserParts,
  cause: Cause | null,
  id: number,
  input: UserChanges,
): Promise<void> => {
  const problems = userProblems(input);
  if (Object.keys(problems).length > 0) throw invalid(problems);
  const hash = input.password === undefined ? null : await hashPassword(input.password, parts.random);
  await retryOnTakenName({ platform: parts }, async (tx) => {
    const user = await lockUser(tx, id);
    if (user.ghost === 1) throw forbidden('An internal user cannot be changed');
    requireGoodPassword(user, input.password);
    await parts.also?.(tx, id);
    const { changes, data } = compareColumns(
      user,
      await getRequestedValues(tx, user, { ...input, isOwn: isOwnWord(cause, id) }),
    );
    if (Object.keys(changes).length === 0 && hash === null) return;
    if (changes.admin === 0) await requireOtherAdmin(tx, user);
    const isConfirmed = await requireFree(tx, changes, user);
    if (changes.avatar !== undefined) await enqueueAvatarRemoval(tx, user.avatar);
    await storeChanges(tx, user, addEmailMark(cause, id, { changes, isConfirmed }), hash);
    if (hash !== null) await endAllSessions(tx, id);
    const target = { project_id: null, target_type: 'User', target_id: id };
    await recordEvent(tx, cause, { kind: 'user.updated', ...target, data: toChangeLog(data, hash !== null) });
  });
};
