import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../../../platform/errors.ts';

export type Limits = { maxLength: number; tooBig: () => Error; invalidFormat: () => Error };

/**
 * Reads a gzipped text into memory; for short files.
 * @throws `tooBig`, and `invalidFormat` for what is not gzip or not UTF-8
 */
export const readGzippedText = async (
  zipped: Readable,
  unzip: Transform,
  { maxLength, tooBig, invalidFormat }: Limits,
): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    await pipeline(zipped, unzip, async (plain: AsyncIterable<Buffer>) => {
      for await (const chunk of plain) {
        size += chunk.length;
        if (size > maxLength) throw tooBig();
        chunks.push(chunk);
      }
    });
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    if (size > maxLength || error instanceof Failure) throw error;
    throw invalidFormat();
  }
};
