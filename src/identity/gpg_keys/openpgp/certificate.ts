/** A public key with its users and subkeys. Only parts that the key itself signed count. Pure. */
import { type Packet, readArmor, readPackets } from './packets.ts';
import { type PublicKey, parsePublicKey, toHashedKey } from './public_key.ts';
import { type Signature, isSignatureOf, parseSignature } from './signature.ts';

export type GpgUser = { name: string; email: string };

/** A key that may sign, with the times (in seconds) between which it may. */
export type SigningKey = { key: PublicKey; ends_at: number | null; isRevoked: boolean };

export type Certificate = {
  primary: PublicKey;
  isRevoked: boolean;
  users: GpgUser[];
  signing: SigningKey[];
};

const tags = { signature: 2, secretKey: 5, publicKey: 6, secretSubkey: 7, userId: 13, publicSubkey: 14 };

/** Signatures of one key that are verified at most, so that a hostile key costs some milliseconds. */
const maxVerified = 100;
const [maxUsers, maxSubkeys] = [50, 50];
const maxUserIdLength = 1_000;
const canSign = 2;

/** A packet with the signatures that follow it. */
type Part = { packet: Packet; signatures: Signature[] };

/** Groups packets; null if they are not one public key. */
const readParts = (packets: readonly Packet[]): Part[] | null => {
  const parts: Part[] = [];
  for (const packet of packets) {
    if (packet.tag !== tags.signature) parts.push({ packet, signatures: [] });
    else {
      const signature = parseSignature(packet.body);
      if (signature !== null) parts.at(-1)?.signatures.push(signature);
    }
  }
  const [first, ...rest] = parts;
  const isOne =
    first?.packet.tag === tags.publicKey &&
    rest.every(({ packet }) => ![tags.publicKey, tags.secretKey, tags.secretSubkey].includes(packet.tag));
  return isOne ? parts : null;
};

/** Counts verifications. */
type Budget = { left: number };

type Verifier = (signature: Signature, types: readonly number[], data: readonly Buffer[]) => boolean;

/** Revocations of the key or its parts: they count even if they expire. */
const revocations = [0x20, 0x28, 0x30];

/** Verifies signatures of the key on itself and its parts. Statements with an expiration time do not count. */
const makeVerifier =
  (primary: PublicKey, budget: Budget): Verifier =>
  (signature, types, data) => {
    if (!types.includes(signature.type) || (signature.issuer ?? primary.keyid) !== primary.keyid)
      return false;
    if (signature.lifetime !== 0 && !revocations.includes(signature.type)) return false;
    budget.left -= 1;
    return budget.left >= 0 && isSignatureOf(signature, primary, [toHashedKey(primary.body), ...data], true);
  };

/** Returns the latest signature of these types; null: none. */
const findLatest = (
  { signatures }: Part,
  types: readonly number[],
  [verify, ...data]: [Verifier, ...Buffer[]],
): Signature | null =>
  signatures
    .toSorted((a, b) => b.created_at - a.created_at)
    .find((signature) => verify(signature, types, data)) ?? null;

const readUser = (body: Buffer): GpgUser | null => {
  const text = body.toString();
  const [start, end] = [text.lastIndexOf('<'), text.lastIndexOf('>')];
  const email = (start === -1 ? text : text.slice(start + 1, end)).trim().toLowerCase();
  if (end < start || email.length > 255 || !/^[^\s@<>]+@[^\s@<>]+$/.test(email)) return null;
  return { name: start === -1 ? '' : text.slice(0, start).trim().slice(0, 255), email };
};

const certifications = [0x10, 0x11, 0x12, 0x13];

/** Returns the unrevoked certification of a user id; null if there is none. */
const certifyUser = (part: Part, verify: Verifier): Signature | null => {
  const length = Buffer.from([0xb4, 0, 0, 0, 0]);
  length.writeUInt32BE(part.packet.body.length, 1);
  const data = Buffer.concat([length, part.packet.body]);
  const certified = findLatest(part, certifications, [verify, data]);
  if (certified === null) return null;
  const revoked = findLatest(part, [0x30], [verify, data]);
  return revoked === null || revoked.created_at < certified.created_at ? certified : null;
};

const getExpiry = (
  { created_at }: PublicKey,
  { key_lifetime }: Pick<Signature, 'key_lifetime'>,
): number | null => (key_lifetime === null || key_lifetime === 0 ? null : created_at + key_lifetime);

/** A signing subkey must sign its binding itself, so that nobody claims another person's subkey. */
const readSubkey = (part: Part, primary: PublicKey, verify: Verifier): SigningKey | null => {
  const key = parsePublicKey(part.packet.body);
  if (key === null || key.material === null) return null;
  const bound = findLatest(part, [0x18], [verify, toHashedKey(key.body)]);
  if (bound === null || bound.embedded === null || ((bound.key_flags ?? 0) & canSign) === 0) return null;
  const back = parseSignature(bound.embedded);
  const both = [toHashedKey(primary.body), toHashedKey(key.body)];
  if (back === null || back.type !== 0x19 || back.lifetime !== 0 || !isSignatureOf(back, key, both, true))
    return null;
  const isRevoked = findLatest(part, [0x28], [verify, toHashedKey(key.body)]) !== null;
  return { key, ends_at: getExpiry(key, bound), isRevoked };
};

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

const isUserPart = ({ packet }: Part): boolean =>
  packet.tag === tags.userId && packet.body.length <= maxUserIdLength;

const readCertificate = ([first, ...rest]: readonly Part[]): Certificate | null => {
  const primary = first === undefined ? null : parsePublicKey(first.packet.body);
  if (first === undefined || primary === null || primary.material === null) return null;
  const budget = { left: maxVerified };
  const verify = makeVerifier(primary, budget);
  const userParts = rest.filter(isUserPart).slice(0, maxUsers);
  const certified = userParts.flatMap((part) => {
    const signature = certifyUser(part, verify);
    return signature === null ? [] : [{ user: readUser(part.packet.body), signature }];
  });
  // The latest says until when the key is valid, and what for.
  const own = certified.map(({ signature }) => signature).toSorted((a, b) => b.created_at - a.created_at);
  const [latest] = own;
  if (latest === undefined) return null;
  const isRevoked = findLatest(first, [0x20], [verify]) !== null;
  const direct = findLatest(first, [0x1f], [verify]);
  const ends_at = getExpiry(primary, latest) ?? (direct === null ? null : getExpiry(primary, direct));
  const flags = latest.key_flags ?? direct?.key_flags ?? canSign;
  const subkeys = rest.filter(({ packet }) => packet.tag === tags.publicSubkey).slice(0, maxSubkeys);
  const signing = [
    ...((flags & canSign) === 0 ? [] : [{ key: primary, ends_at, isRevoked }]),
    ...subkeys
      .flatMap((part) => readSubkey(part, primary, verify) ?? [])
      .map((one) => ({
        ...one,
        ends_at: earlier(one.ends_at, ends_at),
        isRevoked: isRevoked || one.isRevoked,
      })),
  ];
  // Among what was not verified may be a revocation.
  if (budget.left < 0) return null;
  return { primary, isRevoked, users: certified.flatMap(({ user }) => user ?? []), signing };
};

/** Parses an armored public key; null if it is not a key, cannot sign, or names no user. */
export const parseCertificate = (text: string): Certificate | null => {
  const bytes = readArmor(text, 'PUBLIC KEY BLOCK');
  const packets = bytes === null ? null : readPackets(bytes);
  const parts = packets === null ? null : readParts(packets);
  return parts === null ? null : readCertificate(parts);
};

/** A signature by itself. `several` cannot be attributed to one person. */
export type Detached = { signature: Signature } | 'several' | null;

/** Parses an armored signature of data; null if it is malformed or not supported. */
export const parseDetached = (text: string): Detached => {
  const bytes = readArmor(text, 'SIGNATURE');
  const packets = bytes === null ? null : readPackets(bytes);
  const [first, ...more] = packets ?? [];
  if (first === undefined || first.tag !== tags.signature) return null;
  if (more.length > 0) return 'several';
  const signature = parseSignature(first.body);
  return signature === null || signature.type !== 0 ? null : { signature };
};

/** Returns whether a signing key made the signature of these data while it was valid. */
export const isSignedData = (signature: Signature, { key, ends_at }: SigningKey, data: Buffer): boolean => {
  const { created_at, lifetime } = signature;
  const isInTime = created_at >= key.created_at && (ends_at === null || created_at < ends_at);
  return isInTime && lifetime === 0 && isSignatureOf(signature, key, [data]);
};
