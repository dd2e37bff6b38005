/** What a browser's session is told by: its cookie, and the token that shows that a write came from our own page. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { cookieOf } from '../http/cookies.ts';

export const sessionCookie = '_service_session';

/** 256 random bits as a cookie carries them. */
export const newSecret = (random: (bytes: number) => Buffer): string => random(32).toString('base64url');

/** A secret that a cookie carries; null: none, or nothing that we gave. */
export const secretOf = (headers: IncomingHttpHeaders, cookie: string): string | null => {
  const value = cookieOf(headers.cookie, cookie);
  return value !== null && /^[\w-]{43}$/.test(value) ? value : null;
};

/** Made of the cookie, of which the database has a hash only: no dump of it tells a CSRF token. */
export const csrfTokenOf = (secret: string): string =>
  createHmac('sha256', secret).update('csrf').digest('base64url');

export const isCsrfToken = (secret: string, given: unknown): boolean => {
  if (typeof given !== 'string') return false;
  const [wanted, shown] = [Buffer.from(csrfTokenOf(secret)), Buffer.from(given)];
  return wanted.length === shown.length && timingSafeEqual(wanted, shown);
};

/**
 * Whether a request came from our own pages, or from no page at all.
 * @param origin ours: `https://host`
 */
export const isSameOrigin = (headers: IncomingHttpHeaders, origin: string): boolean => {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return headers.origin === undefined || headers.origin === origin;
};
