/** Copies a pack through this process, because storages have no connection to each other. */
import { pipeline } from 'node:stream/promises';
import type { GitStream } from '../../../platform/git/open_stream.ts';

/**
 * Writes the pack that one repository sends into another, and ends both streams.
 * @param check runs once the target has the pack, before the streams end
 */
export const pipePack = async (
  source: GitStream<'pack.read' | 'pack.dump'>,
  target: GitStream<'pack.write'>,
  check?: () => Promise<void>,
): Promise<void> => {
  source.writable.end();
  target.readable.resume();
  try {
    // git stops reading at the end of the pack: the storage may be done before the stream has ended, and the results
    // say what failed.
    pipeline(source.readable, target.writable).catch(() => undefined);
    await Promise.race([target.result, source.result.then(async () => await target.result)]);
    await check?.();
  } finally {
    source.destroy();
    target.destroy();
  }
};
