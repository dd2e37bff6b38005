import { hash } from 'node:crypto';

/** What is stored of a token: never its text. */
export const hashToken = (text: string): string => hash('sha256', text, 'hex');

/**
 * What a secret is, told by its prefix: tokens of users; of OAuth, access, refresh, code, application secret; that a
 * runner is registered with. Those that runners know, and hide in logs: of a runner that somebody made, of one that
 * registered itself, of a job, of who starts pipelines from outside.
 */
export type TokenPrefix =
  | 'gntpat'
  | 'gntoat'
  | 'gntort'
  | 'gntoac'
  | 'gntoas'
  | 'gntrrt'
  | 'glrt'
  | 'glrtr'
  | 'glcbt'
  | 'glptt';

/** A new token: a prefix that secret scanners know, and 200 random bits. */
export const newTokenText = (random: (bytes: number) => Buffer, prefix: TokenPrefix = 'gntpat'): string =>
  `${prefix}-${random(25).toString('base64url')}`;
