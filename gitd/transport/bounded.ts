/** Bounds of what a client says before its objects come: git holds all of it in memory, and it packs very well. */
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GitError } from '../failure.ts';
import type { Watch } from './watch.ts';

/** The commands and the options of a push. */
const longestCommands = 16 * 2 ** 20;
/** What git's own door takes of a request whose packets it has to hold. */
export const largestRequest = 10 * 2 ** 20;
/** A conversation about what both sides have. */
const longestTalk = 64 * 2 ** 20;

const tooLong = (): GitError => new GitError('too_large', 'a request is too long');

/** Hands a push on. Fails where its packet lines become too long; its pack may be of any length. */
export const boundCommands = (most = longestCommands): Transform => {
  let seen = 0;
  let digits = '';
  /** Bytes that the packet line still has; null: no more lines come. */
  let left: number | null = 0;
  const look = (chunk: Buffer): void => {
    for (let at = 0; left !== null && at < chunk.length;) {
      if (left > 0) {
        const step = Math.min(left, chunk.length - at);
        left -= step;
        at += step;
        seen += step;
        continue;
      }
      digits += chunk.toString('latin1', at, at + 1);
      at += 1;
      if (digits.length < 4) continue;
      // `PACK` is no number, nor is anything else that git does not take for a line.
      left = /^[0-9a-f]{4}$/i.test(digits) ? Math.max(0, Number.parseInt(digits, 16) - 4) : null;
      digits = '';
      seen += 4;
    }
  };
  return new Transform({
    readableHighWaterMark: 256 * 1024,
    writableHighWaterMark: 256 * 1024,
    transform: (chunk: Buffer, _encoding, done) => {
      look(chunk);
      if (seen > most) done(tooLong());
      else done(null, chunk);
    },
  });
};

/** Hands on what is not longer than that in all. */
export const boundTalk = (most = longestTalk): Transform => {
  let seen = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      seen += chunk.length;
      if (seen > most) done(tooLong());
      else done(null, chunk);
    },
  });
};

/** A whole request, before anything is begun for it: who sends it slowly keeps no place from others. */
export const wholeRequest = async (
  input: Readable,
  watching: Watch,
  most = largestRequest,
): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) chunks.push(chunk);
  };
  const { signal } = watching;
  await pipeline(input, watching.fromClient(), boundTalk(most), collect, { signal });
  return Buffer.concat(chunks);
};
