/**
 * What pages keep in a browser beside its session: a secret that makes the CSRF tokens of one who is not signed in,
 * and what the next page is to say.
 */
import { createHmac } from 'node:crypto';
import { cookieOf } from '../http/cookies.ts';
import type { Flash } from './page.ts';

export const visitorCookie = '_service_visitor';
export const flashCookie = '_service_flash';

/** Seconds that the next page has to come. */
export const flashLife = 60;

const signature = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(`flash ${text}`).digest('base64url');

/** Signed with the browser's own secret: what others put into its cookies is not said. */
export const flashValue = (secret: string, flash: Flash): string => {
  const text = Buffer.from(JSON.stringify(flash)).toString('base64url');
  return `${text}.${signature(secret, text)}`;
};

export const flashOf = (header: string | undefined, secret: string | null): Flash | null => {
  const [text = '', signed] = cookieOf(header, flashCookie)?.split('.') ?? [];
  if (secret === null || signed !== signature(secret, text)) return null;
  return JSON.parse(Buffer.from(text, 'base64url').toString()) as Flash;
};
