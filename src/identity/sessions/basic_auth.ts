/** HTTP Basic authentication for programs. A token may take the place of the password. */
import {
  type ActorUser,
  type SignedIn,
  recordTokenUse,
  authenticateToken,
  userColumns,
} from '../../core/access/credentials/authenticate.ts';
import type { Platform } from '../../core/platform.ts';
import { type Viewer, loadViewer } from '../../core/access/viewer.ts';
import { Failure, unauthorized } from '../../platform/errors.ts';
import { signInWithPassword } from './check_password.ts';

export type Basic = { login: string; password: string };

export type BasicUser = {
  user: ActorUser;
  viewer: Viewer;
  /** The token that was sent as password; null: a password, which has all scopes. */
  scopes: readonly string[] | null;
};

/** Address and user agent of the request. */
export type BasicSource = { ip: string; userAgent: string };

/** Parses the header (RFC 7617); null if it is not Basic. */
export const readBasic = (header: string): Basic | null => {
  const [, base64] = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header) ?? [];
  const text = Buffer.from(base64 ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? null : { login: text.slice(0, colon), password: text.slice(colon + 1) };
};

/** Loads the token that was sent as password; null if it is not a token. */
const loadToken = async ({ store, clock }: Platform, text: string): Promise<SignedIn | null> => {
  try {
    return await authenticateToken(store.db, { kind: 'token', text, via: 'bearer' }, clock.now());
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unauthorized') return null;
    throw error;
  }
};

const byPassword = async (
  platform: Platform,
  credentials: Basic & BasicSource,
): Promise<BasicUser | 'second_factor'> => {
  const { store, clock } = platform;
  const { user, ...factor } = await signInWithPassword(platform, credentials);
  if (factor.needsSecondFactor || factor.lacksRequiredFactor) return 'second_factor';
  const row = await store.db
    .selectFrom('users')
    .select(userColumns)
    .where('id', '=', user.id)
    .executeTakeFirst();
  if (row === undefined) throw unauthorized();
  return { user: row, viewer: await loadViewer(store.db, row, clock.now()), scopes: null };
};

/**
 * Authenticates a user; `second_factor`: the password was right but is not sufficient.
 * @throws Failure 401 for wrong credentials, 403 for a blocked user or disabled passwords, 429 after too many
 * failures
 */
export const signInBasic = async (
  platform: Platform,
  credentials: Basic,
  source: BasicSource,
): Promise<BasicUser | 'second_factor'> => {
  const token = await loadToken(platform, credentials.password);
  if (token === null) return await byPassword(platform, { ...credentials, ...source });
  recordTokenUse(platform.store, token, { now: platform.clock.now(), ip: source.ip });
  return { user: token.user, viewer: token.viewer, scopes: token.credential.scopes };
};
