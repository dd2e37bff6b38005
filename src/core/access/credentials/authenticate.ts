import { sql } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import { keepUntilChange } from '../../../platform/db/keep_until_change.ts';
import type { Reader, Store } from '../../../platform/db/open.ts';
import type { TokensTable } from '../../../platform/db/schema/credentials.ts';
import type { UsersTable } from '../../../platform/db/schema/identity.ts';
import { Failure, forbidden, unauthorized } from '../../../platform/errors.ts';
import type { PresentedToken } from './read_credential.ts';
import { hashToken } from './token_text.ts';
import { type Viewer, rolesText, today, toViewer } from '../viewer.ts';

export type ActorUser = Pick<
  UsersTable,
  'username' | 'name' | 'email' | 'state' | 'admin' | 'external' | 'can_create_group' | 'projects_limit'
> & { id: number; avatar: string | null; feed_generation: number };

export type Credential = {
  /** `job`: the token of a running job, with `id` the job's id. `feed`: the token in the address of a feed. */
  kind: TokensTable['kind'] | 'session' | 'job' | 'feed';
  id: number;
  scopes: readonly string[];
  last_used_at: number | null;
};

/** Columns that an `ActorUser` needs. */
export const userColumns = [
  'users.id',
  'users.username',
  'users.name',
  'users.email',
  'users.avatar',
  'users.state',
  'users.admin',
  'users.external',
  'users.can_create_group',
  'users.projects_limit',
  'users.feed_generation',
] as const;

export type SignedIn = {
  user: ActorUser;
  credential: Credential;
  viewer: Viewer;
  /** Version of all names that records show. */
  names_version: number;
  /** The administrator who acts as the user, in a session started for that. */
  impersonator?: { id: number; session_id: number };
};

export const namesVersion = sql<number>`(select cast(value as bigint) from instance where name = 'names_version')`;

const selectToken = compiled((db, { token_hash, day }: { token_hash: string; day: string }) =>
  db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select(userColumns)
    .select([
      'tokens.id as token_id',
      'tokens.kind',
      'tokens.scopes',
      'tokens.revoked',
      'tokens.expires_at',
      'tokens.dies_at',
      'tokens.last_used_at',
    ])
    .select(rolesText(sql`users.id`, day).as('roles'))
    .select(namesVersion.as('names_version'))
    .where('tokens.token_hash', '=', token_hash)
    .compile(),
);

/** Tables that say who somebody is and which roles they have; `instance` has the version of all names. */
export const identityTables = ['users', 'members', 'group_links', 'namespaces', 'instance'];

/** Tokens in memory. */
const maxTokens = 2_000;

type KnownToken = SignedIn & {
  kind: TokensTable['kind'];
  revoked: number;
  expires_at: string | null;
  dies_at: number | null;
};

const keepToken = keepUntilChange<KnownToken | undefined>(['tokens', ...identityTables], maxTokens);

const loadToken = async (db: Reader, token_hash: string, day: string): Promise<KnownToken | undefined> => {
  const [row] = await selectToken(db, { token_hash, day });
  if (row === undefined) return undefined;
  const {
    token_id,
    kind,
    scopes,
    revoked,
    expires_at,
    dies_at,
    last_used_at,
    roles,
    names_version,
    ...user
  } = row;
  const credential = { kind, id: token_id, scopes: JSON.parse(scopes) as string[], last_used_at };
  return {
    kind,
    revoked,
    expires_at,
    dies_at,
    user,
    credential,
    viewer: toViewer(user, roles),
    names_version,
  };
};

/**
 * Authenticates an access token.
 * @throws Failure 401 for an unknown, revoked or expired token, 403 for a blocked user
 */
export const authenticateToken = async (
  db: Reader,
  presented: PresentedToken,
  now: number,
): Promise<SignedIn> => {
  const [token_hash, day] = [hashToken(presented.text), today(now)];
  const token = await keepToken(db, `${token_hash} ${day}`, async () => await loadToken(db, token_hash, day));
  if (token === undefined || (presented.via === 'private' && token.kind === 'oauth')) throw unauthorized();
  if (token.revoked === 1)
    throw invalidTokenFailure('Token was revoked. You have to re-authorize from the user.');
  if (isExpired(token, now)) {
    throw invalidTokenFailure('Token is expired. You can either do re-authorization or token refresh.');
  }
  if (token.user.state === 'blocked') throw forbidden('Your account has been blocked.');
  const { user, credential, viewer, names_version } = token;
  return { user, credential, viewer, names_version };
};

export const isExpired = (
  { expires_at, dies_at }: { expires_at: string | null; dies_at: number | null },
  now: number,
): boolean => (expires_at !== null && expires_at <= today(now)) || (dies_at !== null && dies_at <= now);

const invalidTokenFailure = (description: string): Failure =>
  unauthorized({
    'www-authenticate': `Bearer realm="Protected by OAuth 2.0", error="invalid_token", error_description="${description}"`,
  });

const tokenUseInterval = 10 * 60_000;

/** Records the day on which a user was last active. Writes at most once a day. */
export const recordActivity = async (db: Reader, userId: number, now: number): Promise<void> => {
  const day = today(now);
  await db
    .updateTable('users')
    .set({ last_activity_on: day })
    .where('id', '=', userId)
    .where((is) => is.or([is('last_activity_on', 'is', null), is('last_activity_on', '<', day)]))
    .execute();
};

/** When and from where a credential is used. */
export type Use = { now: number; ip: string };

/** Records the use of a token, at most every ten minutes, without delaying the request. */
export const recordTokenUse = (store: Store, { user, credential }: SignedIn, { now, ip }: Use): void => {
  const { id, last_used_at } = credential;
  if (last_used_at !== null && now - last_used_at < tokenUseInterval) return;
  void store
    .write(async ({ db }) => {
      await db
        .updateTable('tokens')
        .set({ last_used_at: now, last_used_ip: ip })
        .where('id', '=', id)
        .execute();
      await recordActivity(db, user.id, now);
    })
    .catch(() => undefined);
};

/**
 * Requires a token scope: `api` allows everything, `read_api` every GET. Endpoints may accept further scopes.
 * @throws Failure 403
 */
export const requireScope = (
  { scopes }: Credential,
  method: string,
  endpointScopes: readonly string[] = [],
): void => {
  if (scopes.includes('api')) return;
  const sufficient = ['api', ...(method === 'GET' ? ['read_api'] : []), ...endpointScopes];
  if (sufficient.some((scope) => scopes.includes(scope))) return;
  throw new Failure('forbidden', {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: sufficient.join(' '),
  });
};

/**
 * Loads the user that an administrator acts as under sudo. A target of digits is an id, anything else a username.
 * @throws Failure 403 if the caller may not use sudo (checked before the target is looked up), 404 for an unknown
 *   target
 */
export const loadSudoTarget = async (db: Reader, signedIn: SignedIn, target: string): Promise<ActorUser> => {
  const { user, credential } = signedIn;
  const mayScope = credential.scopes.includes('api') || credential.scopes.includes('sudo');
  if (user.admin !== 1) throw forbidden('Must be admin to use sudo');
  if (credential.kind === 'session' || !mayScope) {
    throw forbidden('Must be authenticated using an OAuth or personal access token to use sudo');
  }
  const query = db.selectFrom('users').select(userColumns);
  // Ids have at most 15 digits. Truncating a longer number would select another user.
  const matching = /^\d+$/.test(target)
    ? query.where('id', '=', target.length > 15 ? 0 : Number(target))
    : query.where(sql`lower(username)`, '=', target.toLowerCase());
  // No username contains NUL, and PostgreSQL rejects it in a parameter.
  const sudoUser = target.includes('\0') ? undefined : await matching.executeTakeFirst();
  if (sudoUser === undefined) {
    throw new Failure('not_found', { message: `404 Not Found: No user id or username for: ${target}` });
  }
  return sudoUser;
};
