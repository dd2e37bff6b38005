/** Encrypts secrets that must be readable again, such as TOTP keys: AES-256-GCM under the instance's key. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
/** Names the format, so that a later version can change it. */
const version = 'v1';
const nonceBytes = 12;

/**
 * Encrypts a text.
 * @param key 32 bytes, hexadecimal
 * @param purpose what the secret is for; the result decrypts only for the same purpose
 */
export const seal = (key: string, purpose: string, text: string): string => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, Buffer.from(key, 'hex'), nonce).setAAD(Buffer.from(purpose));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return [version, ...[nonce, cipher.getAuthTag(), body].map((part) => part.toString('base64url'))].join('.');
};

/**
 * Decrypts what `seal` returned.
 * @throws Error for another key or purpose, or if the text was modified
 */
export const unseal = (key: string, purpose: string, sealed: string): string => {
  const [form, ...parts] = sealed.split('.');
  const [nonce, tag, body] = parts.map((part) => Buffer.from(part, 'base64url'));
  if (form !== version || nonce === undefined || tag === undefined || body === undefined) {
    throw new Error('not a sealed text of this instance');
  }
  const decipher = createDecipheriv(algorithm, Buffer.from(key, 'hex'), nonce);
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(tag);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
};
