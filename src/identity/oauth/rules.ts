/** Rules for applications, scopes and lifetimes. Pure. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Problems } from '../../platform/errors.ts';
import { dayMilliseconds } from '../../platform/time.ts';
import { tokenScopes } from '../tokens/rules.ts';
import { nameProblem } from '../users/rules.ts';

export const codeLife = 10 * 60_000;
/** Lifetime of an access token in seconds. */
export const tokenLife = 7_200;
/** Milliseconds after the expiry of its access token until a refresh token is deleted. */
export const refreshLife = 90 * dayMilliseconds;

const maxUrisLength = 2_000;
/** Schemes that a browser would execute or display. */
const refusedSchemes = new Set(
  ['javascript', 'data', 'vbscript', 'blob', 'file', 'filesystem', 'about', 'view-source', 'urn'].map(
    (scheme) => `${scheme}:`,
  ),
);

/** Splits a text at white space and drops duplicates. */
export const splitWords = (text: string): string[] => [
  ...new Set(text.split(/\s+/).filter((word) => word !== '')),
];

const areKnownScopes = (scopes: readonly string[]): boolean =>
  scopes.every((scope) => (tokenScopes as readonly string[]).includes(scope));

const uriProblem = (uri: string): string | null => {
  const url = URL.parse(uri);
  // Printable ASCII only, because the text goes into a header unchanged.
  if (url === null || !/^[\x21-\x7e]+$/.test(uri)) return 'must be an absolute URI.';
  if (uri.includes('#')) return 'cannot contain a fragment.';
  if (refusedSchemes.has(url.protocol) || url.username !== '' || url.password !== '')
    return 'is forbidden by the server.';
  // A content security policy names this host, and a semicolon would start another directive.
  if (!/^(?:[\w.-]*|\[[\da-f:.]+\])$/i.test(url.hostname)) return 'has a host that is not allowed.';
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
  return isWeb && !/^https?:\/\//i.test(uri) ? 'must be an absolute URI.' : null;
};

const urisProblem = (text: string): string | null => {
  const uris = splitWords(text);
  if (uris.length === 0) return "can't be blank";
  if (text.length > maxUrisLength) return `is too long (maximum is ${maxUrisLength} characters)`;
  return uris.map(uriProblem).find((problem) => problem !== null) ?? null;
};

const scopesProblem = (text: string): string | null => {
  const scopes = splitWords(text);
  if (scopes.length === 0) return "can't be blank";
  return areKnownScopes(scopes) ? null : "doesn't match configured on the server.";
};

/** `redirect_uri` and `scopes` hold one or several values, separated by spaces or line ends. */
export type ApplicationInput = {
  name: string;
  redirect_uri: string;
  scopes: string;
  confidential: boolean;
  trusted: boolean;
};

export const applicationProblems = (input: ApplicationInput): Problems => {
  const fieldProblems = {
    name: nameProblem(input.name),
    redirect_uri: urisProblem(input.redirect_uri),
    scopes: scopesProblem(input.scopes),
  };
  const problems: Problems = {};
  for (const [property, problem] of Object.entries(fieldProblems)) {
    if (problem !== null) problems[property] = [problem];
  }
  return problems;
};

/**
 * Returns the granted scopes; null: some requested scope is not available.
 * @param requested blank: `api` if it is available, else all available scopes
 */
export const grantedScopes = (requested: string, available: readonly string[]): string[] | null => {
  const scopes = splitWords(requested);
  if (scopes.length === 0) return available.includes('api') ? ['api'] : [...available];
  return scopes.every((scope) => available.includes(scope)) ? scopes : null;
};

/** Returns the scopes that a user may grant. Only administrators grant `sudo`. */
export const filterUserScopes = (scopes: readonly string[], admin: boolean): string[] =>
  scopes.filter((scope) => admin || scope !== 'sudo');

/** Returns whether the text is a challenge of the method S256: base64url of 32 bytes. */
export const isChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** Compares verifier and challenge (RFC 7636, 4.6). */
export const matchesChallenge = (verifier: string, challenge: string): boolean => {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const actual = Buffer.from(hash('sha256', verifier, 'base64url'));
  const expected = Buffer.from(challenge);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
};
