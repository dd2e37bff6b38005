import type { IncomingMessage } from 'node:http';
import { tooLarge, unreadable } from './failure.ts';

/** The whole body. @throws Failure 413 past so many bytes, 400 where its sender leaves */
export const readWhole = async (incoming: IncomingMessage, most: number): Promise<Buffer> => {
  if (Number(incoming.headers['content-length'] ?? 0) > most) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > most) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (bytes > most) throw error;
    throw unreadable();
  }
  return Buffer.concat(chunks);
};
