import { hash } from 'node:crypto';

/** Hashes a token for storage; its text is never stored. */
export const hashToken = (text: string): string => hash('sha256', text, 'hex');

/**
 * Prefixes that distinguish kinds of secrets: user token; OAuth access token, refresh token, code and application
 * secret; runner registration token; deploy token. Runners mask the `gl` ones in logs: created runner, registered
 * runner, job, pipeline trigger.
 */
export type TokenPrefix =
  | 'gntpat'
  | 'gntoat'
  | 'gntort'
  | 'gntoac'
  | 'gntoas'
  | 'gntrrt'
  | 'gntdt'
  | 'glrt'
  | 'glrtr'
  | 'glcbt'
  | 'glptt';

/** Generates a token: a prefix that secret scanners recognize, and 200 random bits. */
export const generateTokenText = (
  random: (bytes: number) => Buffer,
  prefix: TokenPrefix = 'gntpat',
): string => `${prefix}-${random(25).toString('base64url')}`;
