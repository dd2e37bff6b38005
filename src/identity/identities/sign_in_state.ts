/**
 * The state of a sign-in between leaving for a provider and coming back. It travels in the URL, signed with a key
 * from this browser's cookie; the nonce and the PKCE verifier derive from the same key. The service stores nothing,
 * and the state is worthless in another browser. Pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Milliseconds for which the state is valid. */
const life = 10 * 60_000;

export type Started = {
  provider: string;
  at: number;
  /** A path of this service. */
  return_to: string;
  /** The signed-in user whose account will be linked; null: a sign-in. */
  user_id: number | null;
};

const mac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('base64url');

/** @param random a value that differs each time */
export const makeState = (key: string, started: Started, random: string): string => {
  const text = Buffer.from(JSON.stringify([started, random])).toString('base64url');
  return `${text}.${mac(key, `state ${text}`)}`;
};

/** Reads the state; null: invalid, expired, or of another browser or provider. */
export const readState = (key: string, state: unknown, provider: string, now: number): Started | null => {
  if (typeof state !== 'string') return null;
  const [text = '', signature = ''] = state.split('.');
  const [expected, actual] = [Buffer.from(mac(key, `state ${text}`)), Buffer.from(signature)];
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual)) return null;
  const [started] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [Started];
  return started.provider === provider && now - started.at < life ? started : null;
};

/** Derives the nonce and PKCE verifier (43 characters each) that only this browser can present. */
export const deriveProofs = (key: string, state: string): { nonce: string; verifier: string } => ({
  nonce: mac(key, `nonce ${state}`),
  verifier: mac(key, `verifier ${state}`),
});
