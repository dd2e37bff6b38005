/** Reads armored OpenPGP data (RFC 9580) as packets. Pure, and linear in the length of the text. */

export type Packet = { tag: number; body: Buffer };

/** Packets of one key: far more than real keys have. */
const maxPackets = 1_000;

const longestHeader = 1_000;

/** Decodes the armor of a block, such as `PUBLIC KEY BLOCK`; null unless the text is exactly one such block. */
export const readArmor = (text: string, kind: string): Buffer | null => {
  const [begin, end] = [`-----BEGIN PGP ${kind}-----`, `-----END PGP ${kind}-----`];
  const plain = text.replaceAll('\r', '').trim();
  if (!plain.startsWith(`${begin}\n`) || !plain.endsWith(`\n${end}`)) return null;
  const content = plain.slice(begin.length, -end.length);
  if (content.includes('-----')) return null;
  const headersEnd = content.search(/\n[ \t]*\n/);
  if (headersEnd === -1 || headersEnd > longestHeader) return null;
  const lines = content.slice(headersEnd).split('\n');
  // A line with `=` is the checksum, which does not prove the origin of the data.
  const base64 = lines.filter((line) => !line.startsWith('=')).join('');
  return /^[A-Za-z0-9+/=\s]*$/.test(base64) ? Buffer.from(base64, 'base64') : null;
};

type Length = { length: number; size: number };

/** Reads the length of a packet in the current format; null: of parts, which keys and signatures do not have. */
const readLength = (bytes: Buffer, at: number): Length | null => {
  const first = bytes.readUInt8(at);
  if (first < 192) return { length: first, size: 1 };
  if (first < 224) return { length: ((first - 192) << 8) + bytes.readUInt8(at + 1) + 192, size: 2 };
  return first === 255 ? { length: bytes.readUInt32BE(at + 1), size: 5 } : null;
};

/** Reads the length of a packet in the old format; null: until the end. */
const readOldLength = (bytes: Buffer, at: number, type: number): Length | null => {
  if (type === 0) return { length: bytes.readUInt8(at), size: 1 };
  if (type === 1) return { length: bytes.readUInt16BE(at), size: 2 };
  return type === 2 ? { length: bytes.readUInt32BE(at), size: 4 } : null;
};

/** Splits bytes into packets; null if they are malformed, or too many. */
export const readPackets = (bytes: Buffer): Packet[] | null => {
  const packets: Packet[] = [];
  try {
    for (let at = 0; at < bytes.length;) {
      const first = bytes.readUInt8(at);
      if (first < 128 || packets.length === maxPackets) return null;
      const isNew = first >= 192;
      const length = isNew ? readLength(bytes, at + 1) : readOldLength(bytes, at + 1, first & 3);
      if (length === null) return null;
      const start = at + 1 + length.size;
      at = start + length.length;
      if (at > bytes.length) return null;
      packets.push({ tag: isNew ? first & 63 : (first >> 2) & 15, body: bytes.subarray(start, at) });
    }
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  return packets;
};

export type Subpacket = { type: number; isCritical: boolean; body: Buffer };

/** Splits an area of subpackets. @throws RangeError for a malformed one */
export const readSubpackets = (area: Buffer): Subpacket[] => {
  const subpackets: Subpacket[] = [];
  for (let at = 0; at < area.length;) {
    const first = area.readUInt8(at);
    const isLong = first >= 192 && first < 255;
    const length = isLong ? ((first - 192) << 8) + area.readUInt8(at + 1) + 192 : first;
    const [size, whole] = first === 255 ? [5, area.readUInt32BE(at + 1)] : [isLong ? 2 : 1, length];
    const start = at + size;
    at = start + whole;
    if (whole === 0 || at > area.length) throw new RangeError('past the end');
    const type = area.readUInt8(start);
    subpackets.push({ type: type & 127, isCritical: type >= 128, body: area.subarray(start + 1, at) });
  }
  return subpackets;
};

/** Reads numbers and fixed parts one after the other. They throw RangeError past the end. */
export const makeReader = (bytes: Buffer, start = 0) => {
  let at = start;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('past the end');
    at += length;
    return bytes.subarray(at - length, at);
  };
  return {
    take,
    /** A multiprecision integer, without its length. */
    number: (): Buffer => take(Math.ceil(take(2).readUInt16BE() / 8)),
    rest: (): Buffer => bytes.subarray(at),
  };
};

export type FieldReader = ReturnType<typeof makeReader>;
