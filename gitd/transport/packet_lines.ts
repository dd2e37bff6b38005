/** Reads and writes git's packet lines: four hexadecimal digits of the whole length, then the data. */
import { GitError } from '../git_error.ts';

export type Packet =
  | { kind: 'data'; data: Buffer }
  /** `0000`, `0001`, `0002`. */
  | { kind: 'flush' | 'delim' | 'end' };

export const flushPacket = Buffer.from('0000');
export const maxPacketBytes = 65_520;

/** @param text up to 65,516 bytes */
export const packet = (text: string | Buffer): Buffer => {
  const data = typeof text === 'string' ? Buffer.from(text) : text;
  const length = data.length + 4;
  if (length > maxPacketBytes) throw new GitError('internal', 'a packet would be too long');
  return Buffer.concat([Buffer.from(length.toString(16).padStart(4, '0')), data]);
};

const special = ['flush', 'delim', 'end'] as const;

/** Reads the packet at an offset, and the offset of the next; null if it is incomplete. @throws GitError `invalid` */
export const readPacketAt = (bytes: Buffer, at: number): { packet: Packet; next: number } | null => {
  if (bytes.length < at + 4) return null;
  const digits = bytes.toString('latin1', at, at + 4);
  const length = /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
  const kind = special[length];
  if (kind !== undefined) return { packet: { kind }, next: at + 4 };
  if (length < 4 || length > maxPacketBytes) throw new GitError('invalid', 'invalid packet line length');
  if (bytes.length < at + length) return null;
  return { packet: { kind: 'data', data: bytes.subarray(at + 4, at + length) }, next: at + length };
};

/** Returns the text of a packet without its final line feed. */
export const toLine = (data: Buffer): string => {
  const end = data.at(-1) === 0x0a ? data.length - 1 : data.length;
  return data.toString('utf8', 0, end);
};
