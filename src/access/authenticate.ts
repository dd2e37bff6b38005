import { sql } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Reader, Store } from '../db/open.ts';
import type { UsersTable } from '../db/schema.ts';
import type { TokensTable } from '../db/schema_access.ts';
import { Failure, forbidden, unauthorized } from '../errors.ts';
import type { PresentedToken } from './credential.ts';
import { hashToken } from './token_text.ts';
import { type Viewer, rolesText, today, viewerOf } from './viewer.ts';

export type ActorUser = Pick<
  UsersTable,
  'username' | 'name' | 'email' | 'state' | 'admin' | 'external' | 'can_create_group' | 'projects_limit'
> & { id: number };

export type Credential = {
  /** `job`: the token of a job that runs; `id` is the job's. */
  kind: TokensTable['kind'] | 'session' | 'job';
  id: number;
  scopes: readonly string[];
  last_used_at: number | null;
};

/** What a call needs to know of its user. */
export const userColumns = [
  'users.id',
  'users.username',
  'users.name',
  'users.email',
  'users.state',
  'users.admin',
  'users.external',
  'users.can_create_group',
  'users.projects_limit',
] as const;

export type SignedIn = {
  user: ActorUser;
  credential: Credential;
  viewer: Viewer;
  /** Rises with every change of a name that records show. */
  names_version: number;
};

export const namesVersion = sql<number>`(select cast(value as bigint) from instance where name = 'names_version')`;

const tokenByHash = compiled((db, { token_hash, day }: { token_hash: string; day: string }) =>
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

/** Whose token this is. Unknown, revoked and expired ones are alike: 401. A blocked user: 403. */
export const signIn = async (db: Reader, presented: PresentedToken, now: number): Promise<SignedIn> => {
  const [row] = await tokenByHash(db, { token_hash: hashToken(presented.text), day: today(now) });
  if (row === undefined || (presented.via === 'private' && row.kind === 'oauth')) throw unauthorized();
  if (row.revoked === 1) throw deadToken('Token was revoked. You have to re-authorize from the user.');
  if (isExpired(row, now)) {
    throw deadToken('Token is expired. You can either do re-authorization or token refresh.');
  }
  if (row.state === 'blocked') throw forbidden('Your account has been blocked.');
  const {
    token_id,
    kind,
    scopes,
    revoked: _revoked,
    expires_at: _expires,
    dies_at: _dies,
    last_used_at,
    roles,
    names_version,
    ...user
  } = row;
  const credential = { kind, id: token_id, scopes: JSON.parse(scopes) as string[], last_used_at };
  return { user, credential, viewer: viewerOf(user, roles), names_version };
};

export const isExpired = (
  { expires_at, dies_at }: { expires_at: string | null; dies_at: number | null },
  now: number,
): boolean => (expires_at !== null && expires_at <= today(now)) || (dies_at !== null && dies_at <= now);

const deadToken = (description: string): Failure =>
  unauthorized({
    'www-authenticate': `Bearer realm="Protected by OAuth 2.0", error="invalid_token", error_description="${description}"`,
  });

const usedEvery = 10 * 60_000;

/** The day on which a user was last seen, written once a day. */
export const noteActivity = async (db: Reader, userId: number, now: number): Promise<void> => {
  const day = today(now);
  await db
    .updateTable('users')
    .set({ last_activity_on: day })
    .where('id', '=', userId)
    .where((is) => is.or([is('last_activity_on', 'is', null), is('last_activity_on', '<', day)]))
    .execute();
};

/** Notes, every ten minutes at most, that a token is in use: behind the request. */
export const noteUse = (store: Store, { user, credential }: SignedIn, now: number): void => {
  const { id, last_used_at } = credential;
  if (last_used_at !== null && now - last_used_at < usedEvery) return;
  void store
    .write(async ({ db }) => {
      await db.updateTable('tokens').set({ last_used_at: now }).where('id', '=', id).execute();
      await noteActivity(db, user.id, now);
    })
    .catch(() => undefined);
};

/** `api` opens everything, `read_api` every GET; an endpoint may name others. */
export const requireScope = (
  { scopes }: Credential,
  method: string,
  endpointScopes: readonly string[] = [],
): void => {
  const sufficient = ['api', ...(method === 'GET' ? ['read_api'] : []), ...endpointScopes];
  if (sufficient.some((scope) => scopes.includes(scope))) return;
  throw new Failure('forbidden', {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: sufficient.join(' '),
  });
};

/**
 * The user that an administrator acts as. Digits are an id, anything else a user name.
 * @throws Failure 403 for anyone else, before the user is looked up
 */
export const sudoTarget = async (db: Reader, signedIn: SignedIn, target: string): Promise<ActorUser> => {
  const { user, credential } = signedIn;
  const mayScope = credential.scopes.includes('api') || credential.scopes.includes('sudo');
  if (user.admin !== 1) throw forbidden('Must be admin to use sudo');
  if (credential.kind === 'session' || !mayScope) {
    throw forbidden('Must be authenticated using an OAuth or personal access token to use sudo');
  }
  const query = db.selectFrom('users').select(userColumns);
  // No id has more than 15 digits; cut off, they would be somebody else's.
  const found = /^\d+$/.test(target)
    ? query.where('id', '=', target.length > 15 ? 0 : Number(target))
    : query.where(sql`lower(username)`, '=', target.toLowerCase());
  // No name has a NUL, and PostgreSQL would refuse to look for one.
  const other = target.includes('\0') ? undefined : await found.executeTakeFirst();
  if (other === undefined) {
    throw new Failure('not_found', { message: `404 Not Found: No user id or username for: ${target}` });
  }
  return other;
};
