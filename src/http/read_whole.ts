import type { IncomingMessage } from 'node:http';
import { tooLarge, unreadable } from './failure.ts';

/** By events: to iterate takes longer than all else that is done with a small body. */
const collect = (
  incoming: IncomingMessage,
  most: number,
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
    if (bytes <= most) return;
    // What is left stays on the wire, for whoever refuses it.
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

/** The whole body. @throws Failure 413 past so many bytes, 400 where its sender leaves */
export const readWhole = async (incoming: IncomingMessage, most: number): Promise<Buffer> => {
  if (Number(incoming.headers['content-length'] ?? 0) > most) throw tooLarge();
  if (incoming.readableEnded) return Buffer.alloc(0);
  if (incoming.destroyed) throw unreadable();
  const outcome = await new Promise<Buffer | 'too_large' | 'gone'>((settle) =>
    collect(incoming, most, settle),
  );
  if (outcome === 'too_large') throw tooLarge();
  if (outcome === 'gone') throw unreadable();
  return outcome;
};
