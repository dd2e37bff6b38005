/** Encryption of what must be read again, such as the key of a second factor: AES-256-GCM under the instance's key. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
/** Names the form, so that another may follow. */
const version = 'v1';
const nonceBytes = 12;

/**
 * @param key 32 bytes, hexadecimal
 * @param purpose whose secret it is: sealed for one purpose it opens for no other
 */
export const seal = (key: string, purpose: string, text: string): string => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, Buffer.from(key, 'hex'), nonce).setAAD(Buffer.from(purpose));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return [version, ...[nonce, cipher.getAuthTag(), body].map((part) => part.toString('base64url'))].join('.');
};

/** @throws Error for another key or purpose, and for what was changed */
export const unseal = (key: string, purpose: string, sealed: string): string => {
  const [form, ...parts] = sealed.split('.');
  const [nonce, tag, body] = parts.map((part) => Buffer.from(part, 'base64url'));
  if (form !== version || nonce === undefined || tag === undefined || body === undefined) {
    throw new Error('this was not sealed here');
  }
  const decipher = createDecipheriv(algorithm, Buffer.from(key, 'hex'), nonce);
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(tag);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
};
