import type { IncomingHttpHeaders } from 'node:http';
import { Failure, unauthorized } from '../errors.ts';
import type { RawParams } from '../http/params.ts';
import { isCsrfToken, isSameOrigin, secretOf, sessionCookie } from './session_token.ts';

export type PresentedToken = { kind: 'token'; text: string; via: 'private' | 'bearer' };

/** The token of a job, which few endpoints take. */
type PresentedJob = { kind: 'job'; text: string };

/** What a client presented. */
export type Presented = PresentedToken | PresentedJob | { kind: 'session'; secret: string };

/** A token is text; anything else (0, true, null, an array) matches none. */
const tokenText = (value: unknown): string => {
  if (typeof value === 'string' && value !== '') return value;
  throw unauthorized();
};

const bearerOf = (headers: IncomingHttpHeaders): string | undefined => {
  const match = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '');
  return match?.[1];
};

const bothGiven = (): Failure =>
  new Failure('bad_request', {
    error: 'invalid_request',
    error_description: 'Both Authorization header and payload includes access token.',
  });

/** The token of a request; null: none. The parameter wins over the header. */
export const presentedToken = (headers: IncomingHttpHeaders, sent: RawParams): PresentedToken | null => {
  const own = sent['private_token'] ?? headers['private-token'];
  if (own !== undefined) return { kind: 'token', text: tokenText(own), via: 'private' };
  const bearer = bearerOf(headers);
  if (bearer !== undefined && sent['access_token'] !== undefined) throw bothGiven();
  const oauth = sent['access_token'] ?? bearer ?? sent['bearer_token'];
  return oauth === undefined ? null : { kind: 'token', text: tokenText(oauth), via: 'bearer' };
};

const presentedJob = (headers: IncomingHttpHeaders, sent: RawParams): PresentedJob | null => {
  const given = sent['job_token'] ?? headers['job-token'];
  return given === undefined ? null : { kind: 'job', text: tokenText(given) };
};

type Request = { method: string; headers: IncomingHttpHeaders };

/** A cookie is sent by the browser, not by who wrote the page: what it may do must be shown to be meant. */
const sessionOf = ({ method, headers }: Request, sent: RawParams, origin: () => string): Presented | null => {
  const secret = secretOf(headers, sessionCookie);
  if (secret === null || !isSameOrigin(headers, origin())) return null;
  const reads = method === 'GET' || method === 'HEAD';
  const isMeant = reads || isCsrfToken(secret, headers['x-csrf-token'] ?? sent['authenticity_token']);
  return isMeant ? { kind: 'session', secret } : null;
};

/**
 * The credential of a request; null: none. A token counts before that of a job, both before the cookie, the parameter
 * before the header.
 * @param origin our own, of which a page must be that uses the cookie
 */
export const presentedBy = (request: Request, sent: RawParams, origin: () => string): Presented | null =>
  presentedToken(request.headers, sent) ??
  presentedJob(request.headers, sent) ??
  sessionOf(request, sent, origin);
