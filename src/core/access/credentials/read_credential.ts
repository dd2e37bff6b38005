import type { IncomingHttpHeaders } from 'node:http';
import { Failure, unauthorized } from '../../../platform/errors.ts';
import type { RawParams } from '../../../platform/http/params.ts';
import { isCsrfToken, isSameOrigin, readCookieSecret, sessionCookie } from './session_token.ts';

export type PresentedToken = { kind: 'token'; text: string; via: 'private' | 'bearer' };

/** The token of a job. Few endpoints accept it. */
type PresentedJobToken = { kind: 'job'; text: string };

/** A credential as the client presented it, not yet verified. */
export type PresentedCredential = PresentedToken | PresentedJobToken | { kind: 'session'; secret: string };

/**
 * Requires a token to be non-empty text; any other JSON value matches no token.
 * @throws Failure 401
 */
const requireTokenText = (value: unknown): string => {
  if (typeof value === 'string' && value !== '') return value;
  throw unauthorized();
};

const getBearerToken = (headers: IncomingHttpHeaders): string | undefined => {
  const match = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '');
  return match?.[1];
};

const duplicateTokenFailure = (): Failure =>
  new Failure('bad_request', {
    error: 'invalid_request',
    error_description: 'Both Authorization header and payload includes access token.',
  });

/** Reads the access token of a request; null if there is none. A parameter takes precedence over a header. */
export const readPresentedToken = (headers: IncomingHttpHeaders, sent: RawParams): PresentedToken | null => {
  const own = sent['private_token'] ?? headers['private-token'];
  if (own !== undefined) return { kind: 'token', text: requireTokenText(own), via: 'private' };
  const bearer = getBearerToken(headers);
  if (bearer !== undefined && sent['access_token'] !== undefined) throw duplicateTokenFailure();
  const oauth = sent['access_token'] ?? bearer ?? sent['bearer_token'];
  return oauth === undefined ? null : { kind: 'token', text: requireTokenText(oauth), via: 'bearer' };
};

const readPresentedJobToken = (headers: IncomingHttpHeaders, sent: RawParams): PresentedJobToken | null => {
  const text = sent['job_token'] ?? headers['job-token'];
  return text === undefined ? null : { kind: 'job', text: requireTokenText(text) };
};

type Request = { method: string; headers: IncomingHttpHeaders };

/** Reads the session cookie. Browsers send cookies with forged requests too, so writes also need a CSRF token. */
const readPresentedSession = (
  { method, headers }: Request,
  sent: RawParams,
  origin: () => string,
): PresentedCredential | null => {
  const secret = readCookieSecret(headers, sessionCookie);
  if (secret === null || !isSameOrigin(headers, origin())) return null;
  const reads = method === 'GET' || method === 'HEAD';
  const isIntended = reads || isCsrfToken(secret, headers['x-csrf-token'] ?? sent['authenticity_token']);
  return isIntended ? { kind: 'session', secret } : null;
};

/**
 * Reads the credential of a request; null if there is none. Precedence: access token, job token, session cookie;
 * parameters before headers.
 * @param origin returns our own origin, which must match the origin of a page that uses the cookie
 */
export const readPresentedCredential = (
  request: Request,
  sent: RawParams,
  origin: () => string,
): PresentedCredential | null =>
  readPresentedToken(request.headers, sent) ??
  readPresentedJobToken(request.headers, sent) ??
  readPresentedSession(request, sent, origin);
