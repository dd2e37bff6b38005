import type { Tx } from '../db/open.ts';
import type { Flag } from '../db/schema.ts';
import { forbidden, invalid } from '../errors.ts';
import { type Cause, recordEvent } from '../events/record.ts';
import { changesOf } from '../namespaces/changes.ts';
import { takingNames } from '../namespaces/claim.ts';
import { renameRoutes } from '../namespaces/rename.ts';
import {
  type Profile,
  type UserInput,
  type UserParts,
  defaultProjectsLimit,
  profileOf,
  requireFree,
  requireOwnAddress,
} from './create.ts';
import { endSessionsOf } from './end_sessions.ts';
import { requireOtherAdmin } from './last_admin.ts';
import { hashPassword } from './password.ts';
import { type UserRow, lockUser } from './queries.ts';
import { normalizedEmail, passwordProblem, userProblems } from './rules.ts';
import { searchText } from './search_text.ts';

type Name = 'username' | 'name' | 'email' | 'public_email';
type Right = 'admin' | 'external' | 'can_create_group' | 'projects_limit';
type Values = Profile & Partial<Pick<UserRow, Name | Right>>;
type Stored = Values & { email_unchecked?: Flag };
type Maybe<T> = { [K in keyof T]?: T[K] | undefined };

const given = <T extends object>(values: Maybe<T>): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;

const flagOf = (value: boolean | undefined): Flag | undefined => {
  if (value === undefined) return undefined;
  return value ? 1 : 0;
};

/** A password that there is can be changed, not taken away. */
export type UserChanges = Omit<Partial<UserInput>, 'password'> & { password?: string };

/** A user who becomes external loses the rights to create; one who ceases to be gets those of a new user back. */
const rightsOf = async (tx: Tx, user: UserRow, input: UserChanges): Promise<Maybe<Values>> => {
  const { external, can_create_group, projects_limit } = input;
  if (external === true && user.external === 0)
    return { external: 1, can_create_group: 0, projects_limit: 0 };
  if (external === false && user.external === 1) {
    const usual = {
      can_create_group: flagOf(can_create_group ?? true),
      projects_limit: projects_limit ?? (await defaultProjectsLimit(tx)),
    };
    return { external: 0, ...usual };
  }
  return { can_create_group: flagOf(can_create_group), projects_limit };
};

/** What the row is to be, as far as the input says. */
const wantedOf = async (tx: Tx, user: UserRow, input: UserChanges): Promise<Values> => {
  const { username, name, public_email, admin } = input;
  const email = input.email === undefined ? user.email : normalizedEmail(input.email);
  if (public_email !== undefined) requireOwnAddress(public_email, email);
  const isShown = public_email === undefined ? user.public_email === email : Boolean(public_email);
  const names = { username, name: name?.trim(), email, public_email: isShown ? email : null };
  return given<Values>({
    ...profileOf(input),
    ...names,
    ...(await rightsOf(tx, user, input)),
    admin: flagOf(admin),
  });
};

/** What is stored beside the changes: whether a new address is his by his own word alone. */
const markedBy = (cause: Cause | null, id: number, changes: Values): Stored => {
  const isOwnWord = cause !== null && cause.user.id === id && cause.sudo_by_id === null;
  return changes.email === undefined ? changes : { ...changes, email_unchecked: isOwnWord ? 1 : 0 };
};

/** The personal namespace goes by its user's names, and all in it moves with it. */
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

/** The change log says that a password or an address changed, not what it is. */
const notedOf = (data: Record<string, [unknown, unknown]>, isNewPassword: boolean): object => {
  const secret = Object.keys(data).filter((name) => name.endsWith('email'));
  const hidden = [...secret, ...(isNewPassword ? ['password'] : [])].map((name) => [name, []]);
  return { ...data, ...Object.fromEntries(hidden) };
};

/**
 * Changes a user; what is not given stays. A new user name moves the personal namespace and all in it; a new
 * password signs him out everywhere.
 * @throws Failure 404 for no user, 403 for the ghost, 400 and 409 as when a user is created, 409 for the last administrator
 *   who would be none
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
  await takingNames({ platform: parts }, async (tx) => {
    const user = await lockUser(tx, id);
    if (user.ghost === 1) throw forbidden('An internal user cannot be changed');
    requireGoodPassword(user, input.password);
    await parts.also?.(tx, id);
    const { changes, data } = changesOf(user, await wantedOf(tx, user, input));
    if (Object.keys(changes).length === 0 && hash === null) return;
    if (changes.admin === 0) await requireOtherAdmin(tx, user);
    await requireFree(tx, changes, user);
    await storeChanges(tx, user, markedBy(cause, id, changes), hash);
    if (hash !== null) await endSessionsOf(tx, id);
    const target = { project_id: null, target_type: 'User', target_id: id };
    await recordEvent(tx, cause, { kind: 'user.updated', ...target, data: notedOf(data, hash !== null) });
  });
};
