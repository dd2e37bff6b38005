/** Messages in git's own protocol: moved projects, and refusals. */
import { Transform } from 'node:stream';
import type { Project } from '../../projects/projects/find.ts';

/** Lines for the user; empty if the path is current. @param address of the repository, for the same protocol */
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
/** Channel of the side band with text for the user. */
const progress = 2;
const error = 3;

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
  const notice = packet(Buffer.from(`${String.fromCharCode(progress)}${lines.join('\n')}\n`));
  let unread: Buffer = Buffer.alloc(0);
  let isOver = false;
  const step = (push: (bytes: Buffer) => void): boolean => {
    if (unread.length < headLength) return false;
    const length = measure(unread);
    const isSpecial = length === headLength;
    if (length !== null && !isSpecial && unread.length === headLength) return false;
    const band = unread[headLength] ?? 0;
    const isBand = !isSpecial && band > 0 && band <= error;
    if (length === null || isBand) {
      if (isBand) push(notice);
      isOver = true;
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
      if (!isOver) {
        unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
        while (step(push));
        if (isOver) push(unread);
      } else push(chunk);
      done();
    },
    flush(done) {
      if (!isOver && unread.length > 0) this.push(unread);
      done();
    },
  });
};
