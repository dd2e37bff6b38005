/** Names and passwords in a header, as programs send them that know no other way: a token may stand in their place. */
import { type ActorUser, type SignedIn, noteUse, signIn, userColumns } from '../access/authenticate.ts';
import type { Platform } from '../access/call.ts';
import { type Viewer, loadViewer } from '../access/viewer.ts';
import { Failure, unauthorized } from '../errors.ts';
import { passwordSignIn } from './password_sign_in.ts';

export type Basic = { login: string; password: string };

export type BasicUser = {
  user: ActorUser;
  viewer: Viewer;
  /** Of the token that stood in the password's place; null: it was the password, which opens everything. */
  scopes: readonly string[] | null;
};

/** What came with the request. */
export type BasicSource = { ip: string; userAgent: string };

/** RFC 7617; null: the header is none of that kind. */
export const readBasic = (header: string): Basic | null => {
  const [, base64] = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header) ?? [];
  const text = Buffer.from(base64 ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? null : { login: text.slice(0, colon), password: text.slice(colon + 1) };
};

/** The token that stands where the password does; null: it is none. */
const tokenOf = async ({ store, clock }: Platform, text: string): Promise<SignedIn | null> => {
  try {
    return await signIn(store.db, { kind: 'token', text, via: 'bearer' }, clock.now());
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unauthorized') return null;
    throw error;
  }
};

const byPassword = async (
  platform: Platform,
  given: Basic & BasicSource,
): Promise<BasicUser | 'second_factor'> => {
  const { store, clock } = platform;
  const { user, needsSecondFactor } = await passwordSignIn(platform, given);
  if (needsSecondFactor) return 'second_factor';
  const row = await store.db
    .selectFrom('users')
    .select(userColumns)
    .where('id', '=', user.id)
    .executeTakeFirst();
  if (row === undefined) throw unauthorized();
  return { user: row, viewer: await loadViewer(store.db, row, clock.now()), scopes: null };
};

/**
 * Who signs in so; `second_factor`: the password was right, and is not enough.
 * @throws Failure 401 for wrong ones, 403 for a blocked user and where passwords are off, 429 after too many
 */
export const signInBasic = async (
  platform: Platform,
  given: Basic,
  source: BasicSource,
): Promise<BasicUser | 'second_factor'> => {
  const token = await tokenOf(platform, given.password);
  if (token === null) return await byPassword(platform, { ...given, ...source });
  noteUse(platform.store, token, platform.clock.now());
  return { user: token.user, viewer: token.viewer, scopes: token.credential.scopes };
};
