/** Makes OpenPGP keys and signatures (Ed25519, RFC 9580), without the gpg program. */
import { generateKeyPairSync, hash, sign } from 'node:crypto';

type Part = { body: Buffer; tag: number };

const uint = (value: number, size: number): Buffer => {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
};

const packet = ({ tag, body }: Part): Buffer =>
  Buffer.concat([Buffer.from([0xc0 | tag, 255]), uint(body.length, 4), body]);

const mpi = (bytes: Buffer): Buffer => {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start === -1 ? Buffer.alloc(0) : bytes.subarray(start);
  const bits = digits.length === 0 ? 0 : (digits.length - 1) * 8 + (32 - Math.clz32(digits[0] ?? 0));
  return Buffer.concat([uint(bits, 2), digits]);
};

export const armor = (kind: string, bytes: Buffer): string =>
  `-----BEGIN PGP ${kind}-----\n\n${bytes.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END PGP ${kind}-----\n`;

const subpacket = (type: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([body.length + 1, type]), body]);

export type GpgKey = {
  /** Armored public key. */
  text: string;
  fingerprint: string;
  sign: (content: Buffer | string) => string;
};

type Options = {
  /** Seconds. */
  created_at?: number;
  /** Seconds after that. */
  lifetime?: number;
  /** Seconds after which the signatures of the key on its users expire. */
  certified_for?: number;
  isRevoked?: boolean;
  /** Addresses of further users. */
  more?: string[];
};

/** Makes a key that names itself by these addresses. */
export const makeGpgKey = (email: string, options: Options = {}): GpgKey => {
  const { created_at = 1_700_000_000, lifetime, certified_for, isRevoked = false, more = [] } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const x = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const identifier = Buffer.from('092b06010401da470f01', 'hex');
  const point = mpi(Buffer.concat([Buffer.from([0x40]), x]));
  const body = Buffer.concat([Buffer.from([4]), uint(created_at, 4), Buffer.from([22]), identifier, point]);
  const hashedKey = Buffer.concat([Buffer.from([0x99]), uint(body.length, 2), body]);
  const fingerprint = hash('sha1', hashedKey, 'buffer');
  const makeSignature = (type: number, data: Buffer[], at: number, subpackets: Buffer[] = []): Buffer => {
    const hashed = Buffer.concat([
      subpacket(2, uint(at, 4)),
      subpacket(33, Buffer.concat([Buffer.from([4]), fingerprint])),
      ...subpackets,
    ]);
    const head = Buffer.concat([Buffer.from([4, type, 22, 8]), uint(hashed.length, 2), hashed]);
    const end = Buffer.concat([Buffer.from([4, 0xff]), uint(head.length, 4)]);
    const digest = hash('sha256', Buffer.concat([...data, head, end]), 'buffer');
    const made = sign(null, digest, privateKey);
    const numbers = [mpi(made.subarray(0, 32)), mpi(made.subarray(32))];
    return packet({
      tag: 2,
      body: Buffer.concat([head, uint(0, 2), digest.subarray(0, 2), ...numbers]),
    });
  };
  const certify = (address: string): Buffer[] => {
    const user = Buffer.from(`Somebody <${address}>`);
    const data = [hashedKey, Buffer.from([0xb4]), uint(user.length, 4), user];
    const ends = [
      ...(lifetime === undefined ? [] : [subpacket(9, uint(lifetime, 4))]),
      ...(certified_for === undefined ? [] : [subpacket(3, uint(certified_for, 4))]),
    ];
    const flags = subpacket(27, Buffer.from([3]));
    return [packet({ tag: 13, body: user }), makeSignature(0x13, data, created_at, [flags, ...ends])];
  };
  const revocation = isRevoked ? [makeSignature(0x20, [hashedKey], created_at + 1)] : [];
  const key = [packet({ tag: 6, body }), ...revocation, ...[email, ...more].flatMap(certify)];
  return {
    text: armor('PUBLIC KEY BLOCK', Buffer.concat(key)).trim(),
    fingerprint: fingerprint.toString('hex').toUpperCase(),
    sign: (content) => armor('SIGNATURE', makeSignature(0, [Buffer.from(content)], created_at + 100)),
  };
};
