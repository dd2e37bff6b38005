/**
 * What is remembered between leaving for a provider and coming back. It goes along in the address, signed with a key
 * that only this browser's cookie yields; of the same key come the nonce and PKCE's verifier. So the service keeps
 * nothing of those who never come back, and what comes back in another browser is worth nothing: pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Milliseconds that one has at the provider. */
const life = 10 * 60_000;

export type Started = {
  provider: string;
  at: number;
  /** A path of ours. */
  return_to: string;
  /** The signed-in user whose account is to be linked; null: a sign-in. */
  user_id: number | null;
};

const mac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('base64url');

/** @param random differs each time */
export const stateOf = (key: string, started: Started, random: string): string => {
  const text = Buffer.from(JSON.stringify([started, random])).toString('base64url');
  return `${text}.${mac(key, `state ${text}`)}`;
};

/** null: not ours, of another browser or provider, or too old. */
export const readState = (key: string, state: unknown, provider: string, now: number): Started | null => {
  if (typeof state !== 'string') return null;
  const [text = '', signature = ''] = state.split('.');
  const [wanted, given] = [Buffer.from(mac(key, `state ${text}`)), Buffer.from(signature)];
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) return null;
  const [started] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [Started];
  return started.provider === provider && now - started.at < life ? started : null;
};

/** What only this browser's way back can show: 43 characters each, as PKCE wants of a verifier. */
export const proofsOf = (key: string, state: string): { nonce: string; verifier: string } => ({
  nonce: mac(key, `nonce ${state}`),
  verifier: mac(key, `verifier ${state}`),
});
