import { hash } from 'node:crypto';

/** What is stored of a token: never its text. */
export const hashToken = (text: string): string => hash('sha256', text, 'hex');

/** A new token: a prefix that secret scanners know, and 200 random bits. */
export const newTokenText = (random: (bytes: number) => Buffer): string =>
  `gntpat-${random(25).toString('base64url')}`;
