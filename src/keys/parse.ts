/** Public keys as `~/.ssh/id_ed25519.pub` has them: one line, `type base64 comment`. */
import { createPublicKey, hash } from 'node:crypto';
import type { KeysTable } from '../db/schema_access.ts';

export type KeyFamily = KeysTable['family'];

export type ParsedKey = Pick<
  KeysTable,
  'type' | 'blob' | 'comment' | 'family' | 'bits' | 'fingerprint' | 'fingerprint_sha256'
>;

/** A key in hardware, `plain`: the type whose key it holds, beside the name of the application. */
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

/** What OpenSSH takes. */
const mostBits = 16_384;

const linePattern = /^(\S+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+(\S.*))?$/;
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const control = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/;

/** The strings that a blob is made of, each behind its length; null where it is not made so. */
const partsOf = (blob: Buffer): Buffer[] | null => {
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

const joined = (parts: Buffer[]): Buffer =>
  Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  );

/** The blob of the plain key within; null: there is none. */
const plainBlob = (blob: Buffer, type: string, { plain }: Kind): Buffer | null => {
  const parts = partsOf(blob);
  if (parts === null || parts[0]?.toString('latin1') !== type) return null;
  if (plain === undefined) return blob;
  const application = parts.at(-1);
  if (parts.length < 3 || application === undefined || application.length === 0) return null;
  return joined([Buffer.from(plain), ...parts.slice(1, -1)]);
};

const curveBits: Record<string, number> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 };

const bitsOf = (pem: string): number | null => {
  const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey(pem);
  if (asymmetricKeyType === 'ed25519') return 256;
  const { modulusLength, namedCurve = '' } = asymmetricKeyDetails ?? {};
  return modulusLength ?? curveBits[namedCurve] ?? null;
};

/** A number above zero in the one way to write it (RFC 4251, 5): another would give the key another fingerprint. */
const isNumber = ([first = 0, second = 0]: Buffer): boolean => first < 0x80 && (first > 0 || second >= 0x80);

const isWholePoint = (part: Buffer | undefined): boolean => part?.[0] === 0x04;

/** Whether SSH programs write the key so, too. */
const isUsualForm = (family: KeyFamily, [, ...parts]: Buffer[]): boolean => {
  if (family === 'ed25519') return true;
  return family === 'ecdsa' ? isWholePoint(parts.at(-1)) : parts.every(isNumber);
};

/** Bits of a key that OpenSSL takes; null for one that it does not. */
const checkedBits = async (type: string, blob: Buffer, family: KeyFamily): Promise<number | null> => {
  if (!isUsualForm(family, partsOf(blob) ?? [])) return null;
  // CommonJS, and of no use to most calls.
  const { default: ssh2 } = await import('ssh2');
  try {
    const parsed = ssh2.utils.parseKey(`${type} ${blob.toString('base64')}`);
    if (parsed instanceof Error) return null;
    const key = Array.isArray(parsed) ? parsed[0] : parsed;
    // Whatever follows the key in its blob would give the same key another fingerprint.
    if (key === undefined || !key.getPublicSSH().equals(blob)) return null;
    return bitsOf(key.getPublicPEM());
  } catch {
    return null;
  }
};

const md5Of = (blob: Buffer): string => hash('md5', blob, 'hex').replace(/..(?!$)/g, '$&:');

/** A public key of a type that SSH servers take; null for anything else, such as a private one or several lines. */
export const parsePublicKey = async (text: string): Promise<ParsedKey | null> => {
  const line = text.trim();
  const [, type = '', base64 = '', comment = ''] = (control.test(line) ? null : linePattern.exec(line)) ?? [];
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  const blob = Buffer.from(base64, 'base64');
  if (kind === undefined || blob.toString('base64') !== base64) return null;
  const plain = plainBlob(blob, type, kind);
  const bits = plain === null ? null : await checkedBits(kind.plain ?? type, plain, kind.family);
  if (bits === null || bits > mostBits) return null;
  return {
    type,
    blob: base64,
    comment: comment.trim(),
    family: kind.family,
    bits,
    fingerprint: md5Of(blob),
    fingerprint_sha256: hash('sha256', blob, 'base64').replace(/=+$/, ''),
  };
};
