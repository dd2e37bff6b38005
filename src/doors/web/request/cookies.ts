/**
 * Cookies of pages next to the session: a secret for the CSRF tokens of anonymous visitors, and the notice for the next
 * page.
 */
import { createHmac } from 'node:crypto';
import { readCookie } from '../../../platform/http/cookies.ts';
import type { Flash } from '../page.ts';

export const visitorCookie = '_service_visitor';
/** The administrator's own session, kept while they act as another user. */
export const impersonatorCookie = '_service_impersonator';
export const flashCookie = '_service_flash';

/** Seconds that a notice waits for the next page. */
export const flashLife = 60;

const signature = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(`flash ${text}`).digest('base64url');

/** Signs a notice with the browser's secret, so that other sites cannot forge one. */
export const flashValue = (secret: string, flash: Flash): string => {
  const text = Buffer.from(JSON.stringify(flash)).toString('base64url');
  return `${text}.${signature(secret, text)}`;
};

export const flashOf = (header: string | undefined, secret: string | null): Flash | null => {
  const value = readCookie(header, flashCookie);
  if (value === null || secret === null) return null;
  const [text = '', signed] = value.split('.');
  if (signed !== signature(secret, text)) return null;
  return JSON.parse(Buffer.from(text, 'base64url').toString()) as Flash;
};
