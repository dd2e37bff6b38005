import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { ZipFailure } from './format.ts';
import type { ZipContent } from './read.ts';

const piece = 256 * 1024;

/** An archive that is a file. Whoever opened it closes it. */
export const openZipFile = async (path: string): Promise<ZipContent & { close: () => Promise<void> }> => {
  const handle = await open(path, 'r');
  const { size } = await handle.stat();
  const read = async (start: number, length: number): Promise<Buffer> => {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, start);
    if (bytesRead < length) throw new ZipFailure('the archive is damaged');
    return buffer;
  };
  // A stream of the handle would close it with itself.
  const pieces = async function* pieces(start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at <= end; at += piece) {
      // oxlint-disable-next-line no-await-in-loop -- as fast as they are taken
      yield await read(at, Math.min(piece, end + 1 - at));
    }
  };
  return {
    size,
    read,
    stream: (start, end) => Readable.from(pieces(start, end), { objectMode: false }),
    close: async () => await handle.close(),
  };
};
