import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../errors.ts';

export type Limits = { most: number; tooBig: () => Error; invalidFormat: () => Error };

/**
 * A compressed text, whole: for what is short.
 * @throws `tooBig`, and `invalidFormat` for what is not compressed, or no UTF-8
 */
export const readText = async (
  zipped: Readable,
  unzip: Transform,
  { most, tooBig, invalidFormat }: Limits,
): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    await pipeline(zipped, unzip, async (plain: AsyncIterable<Buffer>) => {
      for await (const chunk of plain) {
        size += chunk.length;
        if (size > most) throw tooBig();
        chunks.push(chunk);
      }
    });
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    if (size > most || error instanceof Failure) throw error;
    throw invalidFormat();
  }
};
