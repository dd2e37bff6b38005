import type { IncomingMessage } from 'node:http';
import { tooLarge, unreadable } from '../failure.ts';

/** Reads by events: for a small body, async iteration costs more than everything else. */
const collect = (
  incoming: IncomingMessage,
  maxBytes: number,
  settle: (outcome: Buffer | 'too_large' | 'gone') => void,
): void => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stop = (outcome: Buffer | 'too_large' | 'gone'): void => {
    incoming.off('data', take).off('end', end).off('error', fail).off('close', fail);
    settle(outcome);
  };
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes <= maxBytes) return;
    // Leave the rest unread; the code that refuses the request handles it.
    incoming.pause();
    stop('too_large');
  };
  const end = (): void => {
    const [only] = chunks;
    stop(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
  };
  const fail = (): void => stop('gone');
  incoming.on('data', take).on('end', end).on('error', fail).on('close', fail);
};

/**
 * Reads the whole body.
 * @throws Failure 413 past `maxBytes` bytes, 400 if the client disconnects
 */
export const readBody = async (incoming: IncomingMessage, maxBytes: number): Promise<Buffer> => {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  if (incoming.readableEnded) return Buffer.alloc(0);
  if (incoming.destroyed) throw unreadable();
  const outcome = await new Promise<Buffer | 'too_large' | 'gone'>((settle) =>
    collect(incoming, maxBytes, settle),
  );
  if (outcome === 'too_large') throw tooLarge();
  if (outcome === 'gone') throw unreadable();
  return outcome;
};
