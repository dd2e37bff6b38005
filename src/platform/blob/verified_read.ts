/** Reads small blobs with a comparison of their digest. */
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Logger } from 'pino';
import { damagedFile } from '../errors.ts';
import type { Blobs } from './blob_files.ts';

/** Larger blobs are streamed: they would take memory until a slow client has received them. */
const maxBytes = 2 ** 20;

type Parts = { blobs: Pick<Blobs, 'get'>; log: Pick<Logger, 'error'> };

/** `size`: as recorded; null: it was not, and is small. */
type Blob = { area: string; sha256: string; size: number | null };

/**
 * Reads a whole blob, and compares the digest of one of at most 1 MiB before the answer begins; null if it does not
 * exist.
 * @throws Failure 503 if size or digest differ
 */
export const readVerified = async (
  { blobs, log }: Parts,
  { area, sha256, size }: Blob,
): Promise<Readable | null> => {
  const stream = await blobs.get(area, sha256, undefined, size ?? undefined);
  if (stream === null || (size ?? 0) > maxBytes) return stream;
  const bytes = await buffer(stream);
  if (hash('sha256', bytes) === sha256) return Readable.from([bytes]);
  log.error({ area, sha256 }, 'a stored file is damaged');
  throw damagedFile();
};
