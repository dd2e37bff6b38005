/** Streams a request body to git, decompressed if needed, with backpressure. */
import type { IncomingMessage } from 'node:http';
import { Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { discardBody } from '../../platform/http/body/discard_body.ts';
import { Refusal } from './git_responses.ts';

/** Largest decompressed body in bytes, unless configured otherwise. */
const maxUnpackedBytes = 10 * 2 ** 30;

/** Checks for gzip. @throws Refusal 415 */
export const isPacked = ({ headers }: IncomingMessage): boolean => {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === 'identity') return false;
  throw new Refusal(415, `The content encoding ${JSON.stringify(encoding)} is not supported.`);
};

/** Returns whether the start of a body contains this text, without consuming it. */
export const beginsWithin = async (incoming: IncomingMessage, text: string): Promise<boolean> => {
  if (incoming.readableLength === 0 && !incoming.readableEnded) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const events = ['readable', 'end', 'close', 'error'] as const;
    for (const event of events) incoming.once(event, resolve);
    await promise;
    for (const event of events) incoming.off(event, resolve);
  }
  const chunk = incoming.read() as Buffer | null;
  if (chunk === null) return false;
  incoming.unshift(chunk);
  return chunk.includes(text);
};

const capped = (maxBytes: number): Transform => {
  let seen = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      seen += chunk.length;
      done(seen > maxBytes ? new Error('the body becomes too long') : null, chunk);
    },
  });
};

/** Decompresses into `git`; calls back when the body is invalid. */
const unpacking = (git: Writable, maxBytes: number, onBroken: () => void): Writable => {
  const gunzip = createGunzip();
  pipeline(gunzip, capped(maxBytes), git).catch(onBroken);
  return gunzip;
};

/**
 * Pipes the body to git. If git ends early, the rest is discarded. If the client disconnects or sends invalid data,
 * `leave` is called.
 */
export const sendBody = (
  incoming: IncomingMessage,
  git: Writable,
  leave: () => void,
  most: number | null,
): void => {
  let isOver = false;
  const leaveEarly = (): void => {
    if (!isOver) leave();
  };
  const first = isPacked(incoming) ? unpacking(git, most ?? maxUnpackedBytes, leaveEarly) : git;
  git.once('close', () => {
    isOver = true;
    if (incoming.complete || incoming.destroyed) return;
    // Not destroyed, because that would also close the response.
    incoming.unpipe(first);
    void discardBody(incoming).then((isRead) => {
      if (!isRead) incoming.destroy();
    });
  });
  incoming.once('error', leaveEarly).once('close', () => {
    if (!incoming.complete) leaveEarly();
  });
  incoming.pipe(first);
};
