import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';

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
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = new AbortController();
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxDiscardedBytes) resolve();
  });
  for (const event of ['end', 'close', 'error']) incoming.on(event, () => resolve());
  incoming.resume();
  const late = setTimeout(maxDiscardMilliseconds, undefined, { signal: timer.signal, ref: false }).catch(
    () => undefined,
  );
  await Promise.race([promise, late]);
  timer.abort();
  incoming.pause();
  return incoming.complete;
};
