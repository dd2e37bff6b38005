import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/** Bytes, and milliseconds, that a client is listened to who sends what was refused: enough to hear the answer. */
const mostBytes = 32 * 1024 * 1024;
const patience = 5_000;

/** Reads what is left of a body and keeps none of it. Answers whether that was all. */
export const discard = async (incoming: IncomingMessage): Promise<boolean> => {
  if (incoming.complete) {
    incoming.resume();
    return true;
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = new AbortController();
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes) resolve();
  });
  for (const event of ['end', 'close', 'error']) incoming.on(event, () => resolve());
  incoming.resume();
  const late = setTimeout(patience, undefined, { signal: timer.signal, ref: false }).catch(() => undefined);
  await Promise.race([promise, late]);
  timer.abort();
  incoming.pause();
  return incoming.complete;
};
