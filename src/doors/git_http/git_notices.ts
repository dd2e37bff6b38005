/** Messages in git's own protocol: moved projects, and refusals. */
import { Transform } from 'node:stream';
import type { Project } from '../../projects/projects/find.ts';

/** Lines for the user; empty if the path is current. @param address the new URL, same protocol */
export const movedLines = (
  { full_path }: Pick<Project, 'full_path'>,
  path: string,
  address: string,
): string[] => {
  if (path.toLowerCase() === full_path.toLowerCase()) return [];
  return [
    '',
    `Project '${path}' was moved to '${full_path}'.`,
    '',
    'Please update your Git remote:',
    '',
    `  git remote set-url origin ${address}`,
    '',
  ];
};

const headLength = 4;
/** Side-band channels: 2 text for the user, 3 fatal error. */
const textChannel = 2;
const errorChannel = 3;

const packet = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from((bytes.length + headLength).toString(16).padStart(headLength, '0')), bytes]);

/** Builds the packet that ends a conversation; clients show it as `remote error: ...`. */
export const errorPacket = (text: string): Buffer => packet(Buffer.from(`ERR ${text}`));

/** Parses the length of the packet that begins here; null: no packet. */
const measure = (head: Buffer): number | null => {
  const digits = head.toString('latin1', 0, headLength);
  return /^[0-9a-f]{4}$/.test(digits) ? Math.max(Number.parseInt(digits, 16), headLength) : null;
};

/**
 * Inserts lines before the first packet of the side band in git's answer; clients show them as `remote: ...`. An answer
 * without a side band passes unchanged. All earlier packets are text, which cannot begin with that channel number.
 */
export const insertNotices = (lines: readonly string[]): Transform => {
  const notice = packet(Buffer.from(`${String.fromCharCode(textChannel)}${lines.join('\n')}\n`));
  let unread: Buffer = Buffer.alloc(0);
  /** Whether the rest of the answer passes unchanged. */
  let isDone = false;
  /** Passes on the next packet, or inserts the lines before it. Returns false if it needs more bytes or is done. */
  const passPacket = (push: (bytes: Buffer) => void): boolean => {
    if (unread.length < headLength) return false;
    const length = measure(unread);
    const isControlPacket = length === headLength;
    if (length !== null && !isControlPacket && unread.length === headLength) return false;
    const band = unread[headLength] ?? 0;
    const isBand = !isControlPacket && band > 0 && band <= errorChannel;
    if (length === null || isBand) {
      if (isBand) push(notice);
      isDone = true;
      return false;
    }
    if (unread.length < length) return false;
    push(unread.subarray(0, length));
    unread = unread.subarray(length);
    return true;
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const push = (bytes: Buffer): void => void this.push(bytes);
      if (!isDone) {
        unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
        while (passPacket(push));
        if (isDone) push(unread);
      } else push(chunk);
      done();
    },
    flush(done) {
      if (!isDone && unread.length > 0) this.push(unread);
      done();
    },
  });
};
