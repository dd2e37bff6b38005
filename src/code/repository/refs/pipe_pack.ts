/** Copies a pack through this process, because storages have no connection to each other. */
import { pipeline } from 'node:stream/promises';
import type { GitStream } from '../../../platform/git/open_stream.ts';
import type { Streams } from '../../../platform/git/protocol_types.ts';

/**
 * Writes the pack that one repository sends into another, and ends both streams.
 * @returns the result of the source
 */
export const pipePack = async <N extends 'pack.read' | 'pack.dump'>(
  source: GitStream<N>,
  target: GitStream<'pack.write'>,
): Promise<Streams[N]['result']> => {
  source.writable.end();
  target.readable.resume();
  try {
    // git stops reading at the end of the pack: the storage may be done before the stream has ended, and the results
    // say what failed.
    pipeline(source.readable, target.writable).catch(() => undefined);
    await Promise.race([target.result, source.result.then(async () => await target.result)]);
    return await source.result;
  } finally {
    source.destroy();
    target.destroy();
  }
};
