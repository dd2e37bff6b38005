/** Signatures of OpenPGP, of version 4. Pure. */
import { makeReader, readSubpackets } from './packets.ts';
import { type PublicKey, isSignedBy } from './public_key.ts';

export type Signature = {
  type: number;
  algorithm: number;
  /** Name of the digest, as node has it. */
  digest: string;
  /** Seconds. */
  created_at: number;
  /** Seconds after `created_at`; 0 if it does not expire. */
  lifetime: number;
  /** Seconds after the creation of the key; null if the signature does not specify it. */
  key_lifetime: number | null;
  /** null if the signature does not specify it. */
  key_flags: number | null;
  /** Key id of the issuer, 16 hex digits in upper case; null: unknown. */
  issuer: string | null;
  /** The signature by which a subkey agrees to be one; null: none. */
  embedded: Buffer | null;
  /** Bytes that the digest covers after the signed data. */
  trailer: Buffer;
  numbers: Buffer;
};

/** SHA-1 is accepted only in signatures by which a key names itself: `acceptsOld`. */
const digests: Record<number, string> = { 2: 'sha1', 8: 'sha256', 9: 'sha384', 10: 'sha512', 11: 'sha224' };

/** Types that may be critical: others would make the signature mean something unknown. */
const knownTypes = new Set([
  2, 3, 4, 5, 6, 7, 9, 11, 12, 16, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
]);

const toHex = (bytes: Buffer): string => bytes.toString('hex').toUpperCase();

const parse = (body: Buffer): Signature | null => {
  const fields = makeReader(body);
  const [version, type, algorithm, digestId] = fields.take(4);
  const digest = digests[digestId ?? 0];
  if (version !== 4 || type === undefined || algorithm === undefined || digest === undefined) return null;
  const hashedLength = fields.take(2).readUInt16BE();
  const hashed = readSubpackets(fields.take(hashedLength));
  const unhashed = readSubpackets(fields.take(fields.take(2).readUInt16BE()));
  fields.take(2);
  if (hashed.some(({ type: kind, isCritical }) => isCritical && !knownTypes.has(kind))) return null;
  const find = (kind: number): Buffer | undefined => hashed.findLast((one) => one.type === kind)?.body;
  // The issuer and the embedded signature of a subkey prove themselves, so they need no protection.
  const findAny = (kind: number): Buffer | undefined =>
    find(kind) ?? unhashed.findLast((one) => one.type === kind)?.body;
  const seconds = (kind: number): number | null => find(kind)?.readUInt32BE() ?? null;
  const created_at = seconds(2);
  if (created_at === null) return null;
  const [fingerprint, keyid] = [findAny(33), findAny(16)];
  const end = Buffer.from([4, 0xff, 0, 0, 0, 0]);
  end.writeUInt32BE(6 + hashedLength, 2);
  return {
    type,
    algorithm,
    digest,
    created_at,
    lifetime: seconds(3) ?? 0,
    key_lifetime: seconds(9),
    key_flags: find(27)?.at(0) ?? null,
    issuer:
      fingerprint === undefined ? (keyid === undefined ? null : toHex(keyid)) : toHex(fingerprint).slice(-16),
    embedded: findAny(32) ?? null,
    trailer: Buffer.concat([body.subarray(0, 6 + hashedLength), end]),
    numbers: fields.rest(),
  };
};

/** Parses the packet of a signature; null if it is malformed, or of a kind that is not supported. */
export const parseSignature = (body: Buffer): Signature | null => {
  try {
    return parse(body);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};

/** Returns whether a key made the signature over these data. */
export const isSignatureOf = (
  signature: Signature,
  key: PublicKey,
  data: readonly Buffer[],
  acceptsOld = false,
): boolean => {
  const { digest, trailer, numbers, algorithm } = signature;
  if (digest === 'sha1' && !acceptsOld) return false;
  const isOfAlgorithm = algorithm === key.algorithm || (algorithm === 1 && key.algorithm === 3);
  return (
    isOfAlgorithm && isSignedBy(key, { data: Buffer.concat([...data, trailer]), digest, signature: numbers })
  );
};
