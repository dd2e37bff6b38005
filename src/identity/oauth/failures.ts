import { Failure } from '../../platform/errors.ts';

/** Headers that keep responses about tokens out of caches (RFC 6749, 5.1). */
export const noStore = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** Error codes of RFC 6749, 4.1.2.1 and 5.2, and RFC 7009. */
export type OauthError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type';

/** 400 `{"error": ..., "error_description": ...}`. The description contains neither quotes nor backslashes. */
export const oauthFailure = (error: OauthError, error_description: string): Failure =>
  new Failure('bad_request', { error, error_description }, noStore);

export const invalidRequest = (description: string): Failure => oauthFailure('invalid_request', description);

/** Refuses a grant, with one message for every reason, so that it reveals nothing. */
export const invalidGrant = (): Failure =>
  oauthFailure(
    'invalid_grant',
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
  );

export const invalidScope = (): Failure =>
  oauthFailure('invalid_scope', 'The requested scope is invalid, unknown, or malformed.');

/** 401: the client did not authenticate, or not correctly. */
export const invalidClient = (): Failure =>
  new Failure(
    'unauthorized',
    {
      error: 'invalid_client',
      error_description:
        'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
    },
    { ...noStore, 'www-authenticate': 'Basic realm="OAuth 2.0"' },
  );

/** 403: the token belongs to another client, or the client may not introspect. */
export const notOfClient = (): Failure =>
  new Failure(
    'forbidden',
    {
      error: 'unauthorized_client',
      error_description: 'The client is not authorized to perform this request using this method.',
    },
    noStore,
  );
