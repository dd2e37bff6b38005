/** Parses public keys as in `~/.ssh/id_ed25519.pub`: one line, `type base64 comment`. */
import { createPublicKey, hash } from 'node:crypto';
import type { KeysTable } from '../../platform/db/schema/credentials.ts';

export type KeyFamily = KeysTable['family'];

export type ParsedKey = Pick<
  KeysTable,
  'type' | 'blob' | 'comment' | 'family' | 'bits' | 'fingerprint' | 'fingerprint_sha256'
>;

/** A type of key. `plain`: for a hardware key, the type of the key inside, next to the application's name. */
type Kind = { family: KeyFamily; plain?: string };

const kinds: Record<string, Kind> = {
  'ssh-rsa': { family: 'rsa' },
  'ssh-dss': { family: 'dsa' },
  'ecdsa-sha2-nistp256': { family: 'ecdsa' },
  'ecdsa-sha2-nistp384': { family: 'ecdsa' },
  'ecdsa-sha2-nistp521': { family: 'ecdsa' },
  'ssh-ed25519': { family: 'ed25519' },
  'sk-ecdsa-sha2-nistp256@openssh.com': { family: 'ecdsa', plain: 'ecdsa-sha2-nistp256' },
  'sk-ssh-ed25519@openssh.com': { family: 'ed25519', plain: 'ssh-ed25519' },
};

/** OpenSSH's limit. */
const maxKeyBits = 16_384;

const linePattern = /^(\S+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+(\S.*))?$/;
// oxlint-disable-next-line no-control-regex -- control characters are the point
const control = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/;

/** Splits a blob into its length-prefixed strings; null if it is malformed. */
const splitBlob = (blob: Buffer): Buffer[] | null => {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < blob.length) {
    if (at + 4 > blob.length) return null;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return null;
    parts.push(blob.subarray(at + 4, end));
    at = end;
  }
  return parts;
};

const joinParts = (parts: Buffer[]): Buffer =>
  Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  );

/** Returns the blob of the plain key inside a hardware key; null if it has none. */
const plainBlob = (blob: Buffer, type: string, { plain }: Kind): Buffer | null => {
  const parts = splitBlob(blob);
  if (parts === null || parts[0]?.toString('latin1') !== type) return null;
  if (plain === undefined) return blob;
  const application = parts.at(-1);
  if (parts.length < 3 || application === undefined || application.length === 0) return null;
  return joinParts([Buffer.from(plain), ...parts.slice(1, -1)]);
};

const curveBits: Record<string, number> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 };

const countBits = (pem: string): number | null => {
  const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey(pem);
  if (asymmetricKeyType === 'ed25519') return 256;
  const { modulusLength, namedCurve = '' } = asymmetricKeyDetails ?? {};
  return modulusLength ?? curveBits[namedCurve] ?? null;
};

/**
 * Returns whether a positive number has its canonical encoding (RFC 4251, 5). Another encoding would give the key
 * another fingerprint.
 */
const isNumber = ([first = 0, second = 0]: Buffer): boolean => first < 0x80 && (first > 0 || second >= 0x80);

const isWholePoint = (part: Buffer | undefined): boolean => part?.[0] === 0x04;

/** Returns whether SSH programs would write the key in this form. */
const isUsualForm = (family: KeyFamily, [, ...parts]: Buffer[]): boolean => {
  if (family === 'ed25519') return true;
  return family === 'ecdsa' ? isWholePoint(parts.at(-1)) : parts.every(isNumber);
};

/** Returns the bits of a key that OpenSSL accepts; null if it refuses the key. */
const checkBits = async (type: string, blob: Buffer, family: KeyFamily): Promise<number | null> => {
  if (!isUsualForm(family, splitBlob(blob) ?? [])) return null;
  // CommonJS, and rarely needed.
  const { default: ssh2 } = await import('ssh2');
  try {
    const parsed = ssh2.utils.parseKey(`${type} ${blob.toString('base64')}`);
    if (parsed instanceof Error) return null;
    const key = Array.isArray(parsed) ? parsed[0] : parsed;
    // Trailing bytes in the blob would give the same key another fingerprint.
    if (key === undefined || !key.getPublicSSH().equals(blob)) return null;
    return countBits(key.getPublicPEM());
  } catch {
    return null;
  }
};

const md5Fingerprint = (blob: Buffer): string => hash('md5', blob, 'hex').replace(/..(?!$)/g, '$&:');

/**
 * Parses a public key of a type that SSH servers accept; null for anything else, such as a private key or several
 * lines.
 */
export const parsePublicKey = async (text: string): Promise<ParsedKey | null> => {
  const line = text.trim();
  const [, type = '', base64 = '', comment = ''] = (control.test(line) ? null : linePattern.exec(line)) ?? [];
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  const blob = Buffer.from(base64, 'base64');
  if (kind === undefined || blob.toString('base64') !== base64) return null;
  const plain = plainBlob(blob, type, kind);
  const bits = plain === null ? null : await checkBits(kind.plain ?? type, plain, kind.family);
  if (bits === null || bits > maxKeyBits) return null;
  return {
    type,
    blob: base64,
    comment: comment.trim(),
    family: kind.family,
    bits,
    fingerprint: md5Fingerprint(blob),
    fingerprint_sha256: hash('sha256', blob, 'base64').replace(/=+$/, ''),
  };
};
