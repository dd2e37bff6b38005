/** Describes a token: introspection (RFC 7662), and the older endpoint for a client's own token. */
import type { Reader } from '../../platform/db/open.ts';
import { Failure } from '../../platform/errors.ts';
import { hashToken } from '../../core/access/credentials/token_text.ts';
import { noStore } from './failures.ts';
import type { Application } from './queries.ts';
import { refreshLife } from './rules.ts';

const tokens = (db: Reader) =>
  db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .leftJoin('oauth_applications', 'oauth_applications.id', 'tokens.application_id')
    .select([
      'tokens.id',
      'tokens.user_id',
      'tokens.application_id',
      'tokens.scopes',
      'tokens.revoked',
      'tokens.dies_at',
      'tokens.created_at',
      'tokens.token_hash',
      'tokens.family',
      'users.username',
      'users.state',
      'oauth_applications.uid',
    ])
    .where('tokens.kind', '=', 'oauth');

/** Loads the OAuth token of an access or refresh token. */
export const loadOauthToken = async (db: Reader, text: string) => {
  const hashed = hashToken(text);
  return await tokens(db)
    .where((one) => one.or([one('token_hash', '=', hashed), one('refresh_hash', '=', hashed)]))
    .executeTakeFirst();
};

const seconds = (time: number): number => Math.floor(time / 1_000);

/** RFC 7662. A client sees only its own tokens. */
export const introspectToken = async (
  db: Reader,
  application: Application,
  text: string,
  now: number,
): Promise<object> => {
  const token = await loadOauthToken(db, text);
  if (token === undefined || token.application_id !== application.id) return { active: false };
  const isAccess = token.token_hash === hashToken(text);
  const dies = isAccess ? token.dies_at : (token.dies_at ?? 0) + refreshLife;
  const isActive = token.revoked === 0 && token.state === 'active' && (dies === null || dies > now);
  if (!isActive) return { active: false };
  return {
    active: true,
    scope: (JSON.parse(token.scopes) as string[]).join(' '),
    client_id: application.uid,
    username: token.username,
    ...(isAccess && { token_type: 'Bearer' }),
    ...(dies !== null && { exp: seconds(dies) }),
    iat: seconds(token.created_at),
    sub: String(token.user_id),
  };
};

const notAccessible = (error_description: string): Failure =>
  new Failure(
    'unauthorized',
    { error: 'invalid_token', error_description, state: 'unauthorized' },
    {
      ...noStore,
      'www-authenticate': `Bearer realm="Protected by OAuth 2.0", error="invalid_token", error_description="${error_description}"`,
    },
  );

/**
 * Describes the access token of the request.
 * @throws Failure 401 invalid_token
 */
export const describeToken = async (db: Reader, text: string | null, now: number): Promise<object> => {
  const token = text === null ? undefined : await loadOauthToken(db, text);
  if (token === undefined || text === null || token.token_hash !== hashToken(text)) {
    throw notAccessible('The access token is invalid');
  }
  if (token.revoked === 1 || token.state !== 'active') throw notAccessible('The access token was revoked');
  if (token.dies_at !== null && token.dies_at <= now) throw notAccessible('The access token expired');
  const scopes = JSON.parse(token.scopes) as string[];
  const expires_in = token.dies_at === null ? null : Math.ceil((token.dies_at - now) / 1_000);
  return {
    resource_owner_id: token.user_id,
    scope: scopes,
    expires_in,
    application: token.uid === null ? null : { uid: token.uid },
    created_at: seconds(token.created_at),
    scopes,
    expires_in_seconds: expires_in,
  };
};
