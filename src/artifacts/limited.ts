import { Readable } from 'node:stream';
import type { Failure } from '../errors.ts';

/** The same bytes, broken off where there are more than so many. */
export const atMost = (content: Readable, most: number, tooMany: () => Failure): Readable => {
  const measure = async function* measure(): AsyncGenerator<Buffer> {
    let size = 0;
    for await (const chunk of content as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most) throw tooMany();
      yield chunk;
    }
  };
  return Readable.from(measure(), { objectMode: false });
};
