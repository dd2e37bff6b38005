import { Readable } from 'node:stream';
import type { Failure } from '../../../platform/errors.ts';

/** Passes the stream through, and fails it past a number of bytes. */
export const limitBytes = (content: Readable, maxBytes: number, tooMany: () => Failure): Readable => {
  const measure = async function* measure(): AsyncGenerator<Buffer> {
    let size = 0;
    for await (const chunk of content as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooMany();
      yield chunk;
    }
  };
  return Readable.from(measure(), { objectMode: false });
};
