/** The body of a request on its way to git: packed or not, at the pace at which git reads it. */
import type { IncomingMessage } from 'node:http';
import { Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { discard } from '../http/discard.ts';
import { Refusal } from './answers.ts';

/** Bytes that a packed body may become, where nothing else says. */
const mostUnpacked = 10 * 2 ** 30;

/** @throws Refusal 415 */
export const isPacked = ({ headers }: IncomingMessage): boolean => {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === 'identity') return false;
  throw new Refusal(415, `The content encoding ${JSON.stringify(encoding)} is not supported.`);
};

/** Whether what comes first of a body has this text in it; nothing is taken away of it. */
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

const capped = (most: number): Transform => {
  let seen = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      seen += chunk.length;
      done(seen > most ? new Error('the body becomes too long') : null, chunk);
    },
  });
};

/** Unpacks what is written to it, into `git`; told when that cannot be done. */
const unpacking = (git: Writable, most: number, onBroken: () => void): Writable => {
  const gunzip = createGunzip();
  pipeline(gunzip, capped(most), git).catch(onBroken);
  return gunzip;
};

/**
 * Sends the body on. Where git ends before it has read all of it, the rest is thrown away; where the client leaves,
 * or sends what cannot be unpacked, `leave` is called.
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
  const first = isPacked(incoming) ? unpacking(git, most ?? mostUnpacked, leaveEarly) : git;
  git.once('close', () => {
    isOver = true;
    if (incoming.complete || incoming.destroyed) return;
    // It is not destroyed: with it would go the answer.
    incoming.unpipe(first);
    void discard(incoming).then((isRead) => {
      if (!isRead) incoming.destroy();
    });
  });
  incoming.once('error', leaveEarly).once('close', () => {
    if (!incoming.complete) leaveEarly();
  });
  incoming.pipe(first);
};
