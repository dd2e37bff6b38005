/** Limits what a client sends before its objects: git holds all of it in memory, and it compresses very well. */
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GitError } from '../git_error.ts';
import type { Watchdog } from '../exec/transfer_watchdog.ts';

/** Maximum bytes of the commands and options of a push. */
const maxCommandsBytes = 16 * 2 ** 20;
/**
 * Maximum push options that git reads: it takes time that grows with their square to pass them to the hooks. Those
 * refuse fewer, with words for the pusher (`hook_channel.ts`).
 */
export const maxPushOptions = 4_000;
/** Maximum bytes of a request that git holds in memory. */
export const maxRequestBytes = 10 * 2 ** 20;
const maxNegotiationBytes = 64 * 2 ** 20;

const tooLong = (): GitError => new GitError('too_large', 'a request is too long');

/** Returns the value of a hexadecimal digit; NaN for any other byte. */
const hexValue = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : Number.NaN;
};

/** Passes a push on. Fails if its packet lines or its options exceed the limits; the pack may have any length. */
export const limitCommands = (maxBytes = maxCommandsBytes): Transform => {
  let seen = 0;
  let digits = 0;
  let lineLength = 0;
  /** Rest of the current packet line in bytes; null: no more lines follow. */
  let remaining: number | null = 0;
  /** Options follow the first flush, which ends the commands. */
  let isAfterCommands = false;
  let options = 0;
  const countLine = (length: number): void => {
    if (length === 0) isAfterCommands = true;
    else if (isAfterCommands) options += 1;
  };
  const countBytes = (chunk: Buffer): void => {
    for (let at = 0; remaining !== null && at < chunk.length;) {
      if (remaining > 0) {
        const step = Math.min(remaining, chunk.length - at);
        remaining -= step;
        at += step;
        seen += step;
        continue;
      }
      lineLength = lineLength * 16 + hexValue(chunk[at] ?? 0);
      digits += 1;
      at += 1;
      if (digits < 4) continue;
      // `PACK` is not a number, nor is anything else that git does not read as a line.
      remaining = Number.isNaN(lineLength) ? null : Math.max(0, lineLength - 4);
      if (remaining !== null) countLine(lineLength);
      digits = 0;
      lineLength = 0;
      seen += 4;
    }
  };
  return new Transform({
    readableHighWaterMark: 256 * 1024,
    writableHighWaterMark: 256 * 1024,
    transform: (chunk: Buffer, _encoding, done) => {
      countBytes(chunk);
      if (seen > maxBytes || options > maxPushOptions) done(tooLong());
      else done(null, chunk);
    },
  });
};

/** Passes input on, up to a total size. */
export const limitNegotiation = (maxBytes = maxNegotiationBytes): Transform => {
  let seen = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      seen += chunk.length;
      if (seen > maxBytes) done(tooLong());
      else done(null, chunk);
    },
  });
};

/** Reads a whole request before a slot is taken, so that a slow sender blocks nobody. */
export const wholeRequest = async (
  input: Readable,
  watching: Watchdog,
  maxBytes = maxRequestBytes,
): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) chunks.push(chunk);
  };
  const { signal } = watching;
  await pipeline(input, watching.fromClient(), limitNegotiation(maxBytes), collect, { signal });
  return Buffer.concat(chunks);
};
