/** Authorization requests of applications through the user's browser (RFC 6749, 4.1; RFC 7636; RFC 9207). */
import type { Platform } from '../../core/platform.ts';
import { hashToken, generateTokenText } from '../../core/access/credentials/token_text.ts';
import { insertRow } from '../../platform/db/insert.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { RawParams } from '../../platform/http/params.ts';
import { dayMilliseconds } from '../../platform/time.ts';
import { newFamily } from './issue_tokens.ts';
import { type Application, findApplicationByUid } from './queries.ts';
import { codeLife, grantedScopes, isChallenge, filterUserScopes } from './rules.ts';

/** A valid request. */
export type AuthorizationRequest = {
  application: Application;
  redirect_uri: string;
  state: string | null;
  scopes: string[];
  code_challenge: string | null;
};

/**
 * `shown`: an error shown to the user, because no trusted redirect URI is known; `redirect`: an error sent to the
 * application.
 */
export type Reading =
  | { kind: 'request'; request: AuthorizationRequest }
  | { kind: 'shown'; text: string }
  | { kind: 'redirect'; url: string };

type Requester = { admin: boolean; issuer: string };

const readText = (params: RawParams, name: string): string | null => {
  const value = params[name];
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value : null;
};

/** Builds the redirect URI with the response parameters. */
const answerUrl = (
  { redirect_uri, state }: { redirect_uri: string; state: string | null },
  values: { [name: string]: string },
  issuer: string,
): string => {
  const query = new URLSearchParams({ ...values, ...(state !== null && { state }), iss: issuer });
  // Keeps the registered URI byte for byte.
  return `${redirect_uri}${redirect_uri.includes('?') ? '&' : '?'}${query.toString()}`;
};

type Refusal = { error: string; error_description: string };

const checked = [
  'response_type',
  'response_mode',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
];

const findRefusal = (params: RawParams, { confidential }: Application): Refusal | null => {
  const refuse = (error_description: string, error = 'invalid_request'): Refusal => ({
    error,
    error_description,
  });
  const strange = checked.find((name) => params[name] !== undefined && typeof params[name] !== 'string');
  if (strange !== undefined) return refuse(`The parameter ${strange} must be given once.`);
  const type = readText(params, 'response_type');
  if (type === null) return refuse('Missing required parameter: response_type.');
  if (type !== 'code') {
    return refuse('The server does not support this response type.', 'unsupported_response_type');
  }
  if ((readText(params, 'response_mode') ?? 'query') !== 'query')
    return refuse('response_mode must be query.');
  const challenge = readText(params, 'code_challenge');
  if (challenge === null) return confidential ? null : refuse('Code challenge is required.');
  if (readText(params, 'code_challenge_method') !== 'S256')
    return refuse('code_challenge_method must be S256.');
  return isChallenge(challenge) ? null : refuse('code_challenge is not a SHA-256 in base64url.');
};

/**
 * Reads an authorization request. Redirects nowhere before the application and the redirect URI are verified; else
 * this would be an open redirect.
 */
export const readAuthorizationRequest = async (
  db: Reader,
  params: RawParams,
  asker: Requester,
): Promise<Reading> => {
  const uid = readText(params, 'client_id');
  const application = uid === null ? undefined : await findApplicationByUid(db, uid);
  if (application === undefined) {
    return { kind: 'shown', text: 'The application is not known here: its client_id is missing or wrong.' };
  }
  const redirect_uri = readText(params, 'redirect_uri');
  if (redirect_uri === null || !application.redirect_uris.includes(redirect_uri)) {
    return {
      kind: 'shown',
      text: 'The redirect URI is missing, or is not one that the application registered.',
    };
  }
  const back = { redirect_uri, state: readText(params, 'state') };
  const redirect = (refusal: Refusal): Reading => ({
    kind: 'redirect',
    url: answerUrl(back, refusal, asker.issuer),
  });
  const refusal = findRefusal(params, application);
  if (refusal !== null) return redirect(refusal);
  const granted = grantedScopes(readText(params, 'scope') ?? '', application.scopes);
  const scopes = filterUserScopes(granted ?? [], asker.admin);
  if (scopes.length === 0) {
    const error_description = 'The requested scope is invalid, unknown, or malformed.';
    return redirect({ error: 'invalid_scope', error_description });
  }
  return {
    kind: 'request',
    request: { application, ...back, scopes, code_challenge: readText(params, 'code_challenge') },
  };
};

/**
 * Returns whether consent is not needed: the application is trusted, or it is confidential and already has all
 * requested scopes.
 */
export const hasConsent = async (
  db: Reader,
  userId: number,
  { application, scopes }: AuthorizationRequest,
): Promise<boolean> => {
  if (application.trusted) return true;
  if (!application.confidential) return false;
  const rows = await db
    .selectFrom('tokens')
    .select('scopes')
    .distinct()
    .where('user_id', '=', userId)
    .where('application_id', '=', application.id)
    .where('kind', '=', 'oauth')
    .where('revoked', '=', 0)
    .limit(100)
    .execute();
  return rows.some((row) => {
    const had = JSON.parse(row.scopes) as string[];
    return scopes.every((scope) => had.includes(scope));
  });
};

/** Grants the request. @returns the URL to which the browser is redirected */
export const grantRequest = async (
  { store, random }: Pick<Platform, 'store' | 'random'>,
  userId: number,
  request: AuthorizationRequest,
  issuer: string,
): Promise<string> => {
  const code = generateTokenText(random, 'gntoac');
  const family = newFamily(random);
  const { application, redirect_uri, scopes, code_challenge } = request;
  await store.write(async (tx) => {
    await tx.db
      .deleteFrom('oauth_grants')
      .where('dies_at', '<', tx.now - dayMilliseconds)
      .execute();
    await insertRow(tx.db, 'oauth_grants', {
      code_hash: hashToken(code),
      application_id: application.id,
      user_id: userId,
      redirect_uri,
      scopes: JSON.stringify(scopes),
      code_challenge,
      family,
      dies_at: tx.now + codeLife,
      used_at: null,
      created_at: tx.now,
    });
  });
  return answerUrl(request, { code }, issuer);
};

/** Returns the redirect for a user who denied the request. */
export const denyRequest = (request: AuthorizationRequest, issuer: string): string =>
  answerUrl(
    request,
    {
      error: 'access_denied',
      error_description: 'The resource owner or authorization server denied the request.',
    },
    issuer,
  );
