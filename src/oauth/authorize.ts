/** What an application asks a user for, through his browser (RFC 6749, 4.1; RFC 7636; RFC 9207). */
import type { Platform } from '../access/call.ts';
import { hashToken, newTokenText } from '../access/token_text.ts';
import { insertRow } from '../db/insert.ts';
import type { Reader } from '../db/open.ts';
import type { RawParams } from '../http/params.ts';
import { newFamily } from './issue.ts';
import { type Application, applicationByUid } from './queries.ts';
import { codeLife, grantedScopes, isChallenge, scopesOfUser } from './rules.ts';

/** A request that may be granted. */
export type Asked = {
  application: Application;
  redirect_uri: string;
  state: string | null;
  scopes: string[];
  code_challenge: string | null;
};

/** `shown`: told to the user, for nobody knows where else; `redirect`: told to the application. */
export type Reading =
  | { kind: 'asked'; asked: Asked }
  | { kind: 'shown'; text: string }
  | { kind: 'redirect'; url: string };

type Asker = { admin: boolean; issuer: string };

const textOf = (params: RawParams, name: string): string | null => {
  const value = params[name];
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value : null;
};

/** The address of the application, and what it is told. */
const answerUrl = (
  { redirect_uri, state }: { redirect_uri: string; state: string | null },
  told: { [name: string]: string },
  issuer: string,
): string => {
  const query = new URLSearchParams({ ...told, ...(state !== null && { state }), iss: issuer });
  // The address stays as it was registered, to the letter.
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

const refusalOf = (params: RawParams, { confidential }: Application): Refusal | null => {
  const refuse = (error_description: string, error = 'invalid_request'): Refusal => ({
    error,
    error_description,
  });
  const strange = checked.find((name) => params[name] !== undefined && typeof params[name] !== 'string');
  if (strange !== undefined) return refuse(`The parameter ${strange} must be given once.`);
  const type = textOf(params, 'response_type');
  if (type === null) return refuse('Missing required parameter: response_type.');
  if (type !== 'code') {
    return refuse('The server does not support this response type.', 'unsupported_response_type');
  }
  if ((textOf(params, 'response_mode') ?? 'query') !== 'query') return refuse('response_mode must be query.');
  const challenge = textOf(params, 'code_challenge');
  if (challenge === null) return confidential ? null : refuse('Code challenge is required.');
  if (textOf(params, 'code_challenge_method') !== 'S256')
    return refuse('code_challenge_method must be S256.');
  return isChallenge(challenge) ? null : refuse('code_challenge is no SHA-256 in base64url.');
};

/**
 * Reads a request for an authorization. Nothing is told to an address before the application and the address are
 * known to be right: else this would be a way to lead people anywhere.
 */
export const readAsked = async (db: Reader, params: RawParams, asker: Asker): Promise<Reading> => {
  const uid = textOf(params, 'client_id');
  const application = uid === null ? undefined : await applicationByUid(db, uid);
  if (application === undefined) {
    return { kind: 'shown', text: 'The application is not known here: its client_id is missing or wrong.' };
  }
  const redirect_uri = textOf(params, 'redirect_uri');
  if (redirect_uri === null || !application.redirect_uris.includes(redirect_uri)) {
    return {
      kind: 'shown',
      text: 'The redirect URI is missing, or is not one that the application registered.',
    };
  }
  const back = { redirect_uri, state: textOf(params, 'state') };
  const redirect = (refusal: Refusal): Reading => ({
    kind: 'redirect',
    url: answerUrl(back, refusal, asker.issuer),
  });
  const refusal = refusalOf(params, application);
  if (refusal !== null) return redirect(refusal);
  const granted = grantedScopes(textOf(params, 'scope') ?? '', application.scopes);
  const scopes = scopesOfUser(granted ?? [], asker.admin);
  if (scopes.length === 0) {
    const error_description = 'The requested scope is invalid, unknown, or malformed.';
    return redirect({ error: 'invalid_scope', error_description });
  }
  return {
    kind: 'asked',
    asked: { application, ...back, scopes, code_challenge: textOf(params, 'code_challenge') },
  };
};

/**
 * Whether the user need not be asked: the application is trusted, or it keeps a secret and has from him already all
 * that it asks for.
 */
export const isConsentGiven = async (
  db: Reader,
  userId: number,
  { application, scopes }: Asked,
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

/** Grants what was asked. @returns where the browser goes on */
export const grantAsked = async (
  { store, random }: Pick<Platform, 'store' | 'random'>,
  userId: number,
  asked: Asked,
  issuer: string,
): Promise<string> => {
  const code = newTokenText(random, 'gntoac');
  const family = newFamily(random);
  const { application, redirect_uri, scopes, code_challenge } = asked;
  await store.write(async (tx) => {
    await tx.db
      .deleteFrom('oauth_grants')
      .where('dies_at', '<', tx.now - 86_400_000)
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
  return answerUrl(asked, { code }, issuer);
};

/** The user said no. */
export const denyAsked = (asked: Asked, issuer: string): string =>
  answerUrl(
    asked,
    {
      error: 'access_denied',
      error_description: 'The resource owner or authorization server denied the request.',
    },
    issuer,
  );
