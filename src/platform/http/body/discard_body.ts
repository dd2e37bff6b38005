import type { IncomingMessage } from 'node:http';
import { waitAtMost } from '../../wait_at_most.ts';

/**
 * Bytes and milliseconds for which the body of a refused request is still read, so that the client gets to read the
 * response.
 */
const maxDiscardedBytes = 32 * 1024 * 1024;
const maxDiscardMilliseconds = 5_000;

/** Reads and drops the rest of a body. Returns whether its end was reached. */
export const discardBody = async (incoming: IncomingMessage): Promise<boolean> => {
  if (incoming.complete) {
    incoming.resume();
    return true;
  }
  if (incoming.destroyed) return false;
  const { promise, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxDiscardedBytes) resolve();
  });
  for (const event of ['end', 'close', 'error']) incoming.on(event, () => resolve());
  incoming.resume();
  await waitAtMost(promise, maxDiscardMilliseconds, undefined);
  incoming.pause();
  return incoming.complete;
};
