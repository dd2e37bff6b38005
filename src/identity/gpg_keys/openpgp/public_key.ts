/** Public keys of OpenPGP that can verify: RSA, ECDSA on NIST curves, Ed25519 and Ed448. Pure. */
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { type FieldReader, makeReader } from './packets.ts';

/** Verifies the digest of a signature with a key. */
type Material =
  | { kind: 'rsa'; key: KeyObject; size: number }
  | { kind: 'ecdsa'; key: KeyObject; size: number }
  | { kind: 'eddsa'; key: KeyObject; size: number; isNative: boolean };

export type PublicKey = {
  /** The packet, as signatures cover it. */
  body: Buffer;
  /** 40 hex digits in upper case. */
  fingerprint: string;
  /** The last 16 of them. */
  keyid: string;
  /** Seconds. */
  created_at: number;
  algorithm: number;
  /** null: a key that only encrypts, or of a kind that is not supported. */
  material: Material | null;
};

/** Bits. Larger keys cost too much time, smaller keys prove nothing. */
const [minRsaBits, maxRsaBits] = [2_048, 8_192];
const maxExponentBytes = 4;

const base64url = (bytes: Buffer): string => bytes.toString('base64url');

const readRsa = (fields: FieldReader): Material | null => {
  const [modulus, exponent] = [fields.number(), fields.number()];
  const bits = modulus.length * 8;
  if (bits < minRsaBits || bits > maxRsaBits || exponent.length > maxExponentBytes) return null;
  const jwk = { kty: 'RSA', n: base64url(modulus), e: base64url(exponent) };
  return { kind: 'rsa', key: createPublicKey({ key: jwk, format: 'jwk' }), size: modulus.length };
};

/** Curves by the identifier of a key, in hex. */
const nistCurves: Record<string, { crv: string; size: number }> = {
  '2a8648ce3d030107': { crv: 'P-256', size: 32 },
  '2b81040022': { crv: 'P-384', size: 48 },
  '2b81040023': { crv: 'P-521', size: 66 },
};
const ed25519Identifier = '2b06010401da470f01';

const readIdentifier = (fields: FieldReader): string =>
  fields.take(fields.take(1).readUInt8()).toString('hex');

const readEcdsa = (fields: FieldReader): Material | null => {
  const identifier = readIdentifier(fields);
  const curve = Object.hasOwn(nistCurves, identifier) ? nistCurves[identifier] : undefined;
  const point = fields.number();
  if (curve === undefined || point[0] !== 4 || point.length !== 1 + 2 * curve.size) return null;
  const [x, y] = [point.subarray(1, 1 + curve.size), point.subarray(1 + curve.size)];
  const jwk = { kty: 'EC', crv: curve.crv, x: base64url(x), y: base64url(y) };
  return { kind: 'ecdsa', key: createPublicKey({ key: jwk, format: 'jwk' }), size: curve.size };
};

const readEdwards = (crv: 'Ed25519' | 'Ed448', x: Buffer, isNative: boolean): Material => {
  const key = createPublicKey({ key: { kty: 'OKP', crv, x: base64url(x) }, format: 'jwk' });
  return { kind: 'eddsa', key, size: crv === 'Ed25519' ? 32 : 57, isNative };
};

const readOldEd25519 = (fields: FieldReader): Material | null => {
  const identifier = readIdentifier(fields);
  const point = fields.number();
  if (identifier !== ed25519Identifier || point[0] !== 0x40 || point.length !== 33) return null;
  return readEdwards('Ed25519', point.subarray(1), false);
};

const readers: Record<number, (fields: FieldReader) => Material | null> = {
  1: readRsa,
  3: readRsa,
  19: readEcdsa,
  22: readOldEd25519,
  27: (fields) => readEdwards('Ed25519', fields.take(32), true),
  28: (fields) => readEdwards('Ed448', fields.take(57), true),
};

const readMaterial = (algorithm: number, fields: FieldReader): Material | null => {
  try {
    return readers[algorithm]?.(fields) ?? null;
  } catch {
    // Cut short, or numbers that OpenSSL does not take.
    return null;
  }
};

/** Returns a key in the form in which fingerprints and signatures cover it. */
export const toHashedKey = (body: Buffer): Buffer => {
  const head = Buffer.alloc(3);
  head.writeUInt8(0x99);
  head.writeUInt16BE(body.length, 1);
  return Buffer.concat([head, body]);
};

/** Parses the packet of a key of version 4; null if it is malformed or of another version. */
export const parsePublicKey = (body: Buffer): PublicKey | null => {
  if (body.length < 7 || body.length > 0xff_ff || body[0] !== 4) return null;
  const algorithm = body.readUInt8(5);
  const fingerprint = hash('sha1', toHashedKey(body), 'hex').toUpperCase();
  return {
    body,
    fingerprint,
    keyid: fingerprint.slice(-16),
    created_at: body.readUInt32BE(1),
    algorithm,
    material: readMaterial(algorithm, makeReader(body, 6)),
  };
};

/** Pads a number to a size. @throws RangeError for a longer one */
const toSize = (number: Buffer, size: number): Buffer => {
  if (number.length > size) throw new RangeError('too long');
  return Buffer.concat([Buffer.alloc(size - number.length), number]);
};

const readPair = (fields: FieldReader, size: number): Buffer => {
  const first = toSize(fields.number(), size);
  return Buffer.concat([first, toSize(fields.number(), size)]);
};

/** Returns whether the key signed these data. @param signature the numbers of the signature, as they are stored */
export const isSignedBy = (
  { material }: PublicKey,
  { data, digest, signature }: { data: Buffer; digest: string; signature: Buffer },
): boolean => {
  if (material === null) return false;
  const fields = makeReader(signature);
  const { key, size } = material;
  try {
    if (material.kind === 'rsa') return verify(digest, data, key, toSize(fields.number(), size));
    if (material.kind === 'ecdsa')
      return verify(digest, data, { key, dsaEncoding: 'ieee-p1363' }, readPair(fields, size));
    const numbers = material.isNative ? fields.take(2 * size) : readPair(fields, size);
    return verify(null, hash(digest, data, 'buffer'), key, numbers);
  } catch {
    return false;
  }
};
