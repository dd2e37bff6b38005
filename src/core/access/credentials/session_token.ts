/** The session cookie, and the CSRF token that proves that a write comes from our own page. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readCookie } from '../../../platform/http/cookies.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';

export const sessionCookie = '_service_session';

/** Generates a session secret: 256 random bits, encoded for a cookie. */
export const generateSecret = (random: (bytes: number) => Buffer): string => random(32).toString('base64url');

/** Reads a session secret from a cookie; null if the cookie is missing or malformed. */
export const readCookieSecret = (headers: IncomingHttpHeaders, cookie: string): string | null => {
  const value = readCookie(headers.cookie, cookie);
  return value !== null && /^[\w-]{43}$/.test(value) ? value : null;
};

/** Tokens of the browsers that were here last: every page with a form needs its own. */
const csrfTokens = makeLruCache<string>(2_000, () => 1);

/**
 * Derives the CSRF token from the cookie. The database stores only a hash of the cookie, so a dump reveals no CSRF
 * token.
 */
export const deriveCsrfToken = (secret: string): string => {
  const known = csrfTokens.get(secret);
  if (known !== undefined) return known;
  const token = createHmac('sha256', secret).update('csrf').digest('base64url');
  csrfTokens.set(secret, token);
  return token;
};

export const isCsrfToken = (secret: string, token: unknown): boolean => {
  if (typeof token !== 'string') return false;
  const [expected, shown] = [Buffer.from(deriveCsrfToken(secret)), Buffer.from(token)];
  return expected.length === shown.length && timingSafeEqual(expected, shown);
};

/**
 * Returns whether a request comes from one of our pages, or from no page at all.
 * @param origin our own: `https://host`
 */
export const isSameOrigin = (headers: IncomingHttpHeaders, origin: string): boolean => {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return headers.origin === undefined || headers.origin === origin;
};
