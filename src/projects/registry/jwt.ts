/** JSON web tokens for Docker's registry (RFC 7519, ES256). */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 of RFC 4648, without padding. */
const base32 = (bytes: Buffer): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => letters[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
};

/** Returns libtrust's id of a key: 240 bits of its digest in twelve groups of four letters. */
const keyId = (key: KeyObject): string => {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const digest = hash('sha256', der, 'buffer').subarray(0, 30);
  return base32(digest).replace(/.{4}(?!$)/g, '$&:');
};

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** @param pem a private key of the curve P-256 */
export const signJwt = (claims: object, pem: string): string => {
  const key = createPrivateKey(pem);
  const text = `${encoded({ typ: 'JWT', alg: 'ES256', kid: keyId(key) })}.${encoded(claims)}`;
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
};
