import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { ZipFailure } from './format.ts';
import type { ZipContent } from './read_items.ts';

const piece = 256 * 1024;

/** Opens an archive on disk. The caller must close it. */
export const openZipFile = async (path: string): Promise<ZipContent & { close: () => Promise<void> }> => {
  const handle = await open(path, 'r');
  const { size } = await handle.stat();
  const read = async (start: number, length: number): Promise<Buffer> => {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, start);
    if (bytesRead < length) throw new ZipFailure('the archive is damaged');
    return buffer;
  };
  // A stream made from the handle would close the handle when it ends.
  const pieces = async function* pieces(start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at <= end; at += piece) {
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
