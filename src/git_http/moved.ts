/** What git itself shows of a project that moved, and of what is refused in its own words. */
import { Transform } from 'node:stream';
import type { Project } from '../projects/find.ts';

/** Lines for people; none: the path is the project's own. @param address of the repository, by the same door */
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
/** Of the side band: what people read. */
const progress = 2;
const error = 3;

const packet = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from((bytes.length + headLength).toString(16).padStart(headLength, '0')), bytes]);

/** What ends a conversation, and is shown as `remote error: ...`. */
export const errorPacket = (text: string): Buffer => packet(Buffer.from(`ERR ${text}`));

/** Length of the packet that begins here; null: none does. */
const lengthOf = (head: Buffer): number | null => {
  const digits = head.toString('latin1', 0, headLength);
  return /^[0-9a-f]{4}$/.test(digits) ? Math.max(Number.parseInt(digits, 16), headLength) : null;
};

/**
 * Puts lines before the first packet of the side band in what git answers, where clients show them as `remote: ...`.
 * What has no side band goes by as it is. All packets before are text, which begins with no such number.
 */
export const telling = (lines: readonly string[]): Transform => {
  const told = packet(Buffer.from(`${String.fromCharCode(progress)}${lines.join('\n')}\n`));
  let rest: Buffer = Buffer.alloc(0);
  let isOver = false;
  const step = (push: (bytes: Buffer) => void): boolean => {
    if (rest.length < headLength) return false;
    const length = lengthOf(rest);
    const isSpecial = length === headLength;
    if (length !== null && !isSpecial && rest.length === headLength) return false;
    const band = rest[headLength] ?? 0;
    const isBand = !isSpecial && band > 0 && band <= error;
    if (length === null || isBand) {
      if (isBand) push(told);
      isOver = true;
      return false;
    }
    if (rest.length < length) return false;
    push(rest.subarray(0, length));
    rest = rest.subarray(length);
    return true;
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const push = (bytes: Buffer): void => void this.push(bytes);
      if (!isOver) {
        rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        while (step(push));
        if (isOver) push(rest);
      } else push(chunk);
      done();
    },
    flush(done) {
      if (!isOver && rest.length > 0) this.push(rest);
      done();
    },
  });
};
