/** Checks SSH signatures (OpenSSH's PROTOCOL.sshsig) of commits. Pure. */
import { createPublicKey, hash, verify } from 'node:crypto';

/** Namespace of git signatures. */
const namespace = 'git';
const magic = 'SSHSIG';

type Fields = { next: () => Buffer; isAtEnd: () => boolean };

/** Reads length-prefixed fields. `next` throws RangeError past the end. */
const readFields = (bytes: Buffer): Fields => {
  let at = 0;
  return {
    next: () => {
      const length = bytes.readUInt32BE(at);
      const end = at + 4 + length;
      if (end > bytes.length) throw new RangeError('past the end');
      const field = bytes.subarray(at + 4, end);
      at = end;
      return field;
    },
    isAtEnd: () => at === bytes.length,
  };
};

const toField = (content: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
};

export type SshSignature = {
  /** The key that signed, as in a public key file. */
  key: Buffer;
  /** SHA-256 of the key, in base64 without padding. */
  fingerprint: string;
  namespace: string;
  hashAlgorithm: string;
  reserved: Buffer;
  /** Name of the algorithm, and the signature itself. */
  algorithm: string;
  signature: Buffer;
};

const armor = /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n?-----END SSH SIGNATURE-----\s*$/;

/** Parses an armored signature; null if it is not an SSH signature. */
export const parseSshSignature = (text: string): SshSignature | null => {
  const [, base64] = armor.exec(text.replaceAll('\r\n', '\n')) ?? [];
  if (base64 === undefined) return null;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('latin1', 0, magic.length) !== magic || bytes.length < 10) return null;
  if (bytes.readUInt32BE(magic.length) !== 1) return null;
  try {
    const fields = readFields(bytes.subarray(magic.length + 4));
    const [key, space, reserved, hashName] = [fields.next(), fields.next(), fields.next(), fields.next()];
    const inner = readFields(fields.next());
    if (!fields.isAtEnd()) return null;
    return {
      key,
      fingerprint: hash('sha256', key, 'base64').replace(/=+$/, ''),
      namespace: space.toString(),
      reserved,
      hashAlgorithm: hashName.toString(),
      algorithm: inner.next().toString(),
      signature: inner.next(),
    };
  } catch {
    return null;
  }
};

/** Sizes of the numbers of a signature by curve, with the digest of each. */
const curves: Record<string, { size: number; digest: string; name: string }> = {
  'ecdsa-sha2-nistp256': { size: 32, digest: 'sha256', name: 'P-256' },
  'ecdsa-sha2-nistp384': { size: 48, digest: 'sha384', name: 'P-384' },
  'ecdsa-sha2-nistp521': { size: 66, digest: 'sha512', name: 'P-521' },
};

/** SHA-1, as of plain `ssh-rsa`, is not accepted. */
const rsaDigests: Record<string, string> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' };

const base64url = (bytes: Buffer): string => bytes.toString('base64url');

/** Removes leading zeros, and pads to a size. */
const toSize = (number: Buffer, size: number): Buffer => {
  const start = number.findIndex((byte) => byte !== 0);
  const digits = start === -1 ? Buffer.alloc(0) : number.subarray(start);
  return Buffer.concat([Buffer.alloc(Math.max(size - digits.length, 0)), digits]);
};

const verifyEd25519 = (fields: Fields, data: Buffer, signature: Buffer): boolean => {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: base64url(fields.next()) };
  return verify(null, data, createPublicKey({ key: jwk, format: 'jwk' }), signature);
};

const verifyRsa = (fields: Fields, algorithm: string, [data, signature]: [Buffer, Buffer]): boolean => {
  const digest = Object.hasOwn(rsaDigests, algorithm) ? rsaDigests[algorithm] : undefined;
  if (digest === undefined) return false;
  const [exponent, modulus] = [fields.next(), fields.next()];
  const jwk = { kty: 'RSA', e: base64url(toSize(exponent, 0)), n: base64url(toSize(modulus, 0)) };
  return verify(digest, data, createPublicKey({ key: jwk, format: 'jwk' }), signature);
};

const verifyEcdsa = (fields: Fields, algorithm: string, [data, signature]: [Buffer, Buffer]): boolean => {
  const curve = Object.hasOwn(curves, algorithm) ? curves[algorithm] : undefined;
  if (curve === undefined) return false;
  fields.next();
  const point = fields.next();
  if (point[0] !== 4 || point.length !== 1 + 2 * curve.size) return false;
  const [x, y] = [point.subarray(1, 1 + curve.size), point.subarray(1 + curve.size)];
  const jwk = { kty: 'EC', crv: curve.name, x: base64url(x), y: base64url(y) };
  const numbers = readFields(signature);
  const both = Buffer.concat([toSize(numbers.next(), curve.size), toSize(numbers.next(), curve.size)]);
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  return verify(curve.digest, data, { key, dsaEncoding: 'ieee-p1363' }, both);
};

const verifyWith = ({ key, algorithm, signature }: SshSignature, data: Buffer): boolean => {
  const fields = readFields(key);
  const type = fields.next().toString();
  if (type === 'ssh-ed25519') return algorithm === type && verifyEd25519(fields, data, signature);
  if (type === 'ssh-rsa') return verifyRsa(fields, algorithm, [data, signature]);
  return algorithm === type && verifyEcdsa(fields, algorithm, [data, signature]);
};

/** Returns whether the key of a signature signed this content, for git. Hardware keys are not supported: false. */
export const isSshSignatureOf = (signed: SshSignature, content: Buffer): boolean => {
  const { hashAlgorithm, reserved } = signed;
  if (signed.namespace !== namespace || !['sha256', 'sha512'].includes(hashAlgorithm)) return false;
  const digest = hash(hashAlgorithm, content, 'buffer');
  const fields = [Buffer.from(namespace), reserved, Buffer.from(hashAlgorithm), digest].map(toField);
  try {
    return verifyWith(signed, Buffer.concat([Buffer.from(magic), ...fields]));
  } catch {
    // Keys and numbers that OpenSSL does not take.
    return false;
  }
};
