/** Git's packet lines: four hexadecimal digits of length, which count themselves, and the rest of the packet. */
import { GitError } from '../failure.ts';

export type Packet =
  | { kind: 'data'; data: Buffer }
  /** `0000`, `0001`, `0002`. */
  | { kind: 'flush' | 'delim' | 'end' };

export const flushPacket = Buffer.from('0000');
const longest = 65_520;

/** @param text up to 65,516 bytes */
export const packet = (text: string | Buffer): Buffer => {
  const data = typeof text === 'string' ? Buffer.from(text) : text;
  const length = data.length + 4;
  if (length > longest) throw new GitError('internal', 'a packet would be too long');
  return Buffer.concat([Buffer.from(length.toString(16).padStart(4, '0')), data]);
};

const special = ['flush', 'delim', 'end'] as const;

/**
 * The packet at a place, and where the next one begins; null: it is not whole yet.
 * @throws GitError `invalid` for what is no packet
 */
export const packetAt = (bytes: Buffer, at: number): { packet: Packet; next: number } | null => {
  if (bytes.length < at + 4) return null;
  const digits = bytes.toString('latin1', at, at + 4);
  const length = /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
  const kind = special[length];
  if (kind !== undefined) return { packet: { kind }, next: at + 4 };
  if (length < 4 || length > longest) throw new GitError('invalid', 'no packet line begins here');
  if (bytes.length < at + length) return null;
  return { packet: { kind: 'data', data: bytes.subarray(at + 4, at + length) }, next: at + length };
};

/**
 * All packets of what is whole.
 * @throws GitError `invalid` for what is not
 */
export const packetsOf = (bytes: Buffer): Packet[] => {
  const packets: Packet[] = [];
  for (let at = 0; at < bytes.length;) {
    const found = packetAt(bytes, at);
    if (found === null) throw new GitError('invalid', 'a packet line is cut off');
    packets.push(found.packet);
    at = found.next;
  }
  return packets;
};

/** The text of a packet, without the line break that may end it. */
export const lineOf = (data: Buffer): string => {
  const end = data.at(-1) === 0x0a ? data.length - 1 : data.length;
  return data.toString('utf8', 0, end);
};
