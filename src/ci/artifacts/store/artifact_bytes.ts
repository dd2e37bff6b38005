/** Stores the bytes of artifacts, deduplicated within a project. */
import type { Readable } from 'node:stream';
import type { Platform } from '../../../core/platform.ts';
import type { Placing, Range, Stored } from '../../../platform/blob/blob_files.ts';
import { readVerified } from '../../../platform/blob/verified_read.ts';
import { isDiskFailure, unavailable } from '../../../platform/errors.ts';
import { publishReached } from '../../../platform/git/durability_points.ts';
import { withMutex } from '../../../platform/keyed_mutex.ts';
import {
  type BlobKey,
  type ReleaseClaim,
  claimForReference,
  claimForDeletion,
  turnIntoDeletion,
  leaveClaim,
} from './blob_claims.ts';
import { artifactArea } from '../rules.ts';

export const getBytes = async (
  platform: Platform,
  { project_id, sha256, size }: { project_id: number; sha256: string; size?: number },
  range?: Range,
): Promise<Readable | null> => {
  const area = artifactArea(project_id);
  if (range === undefined && size !== undefined) return await readVerified(platform, { area, sha256, size });
  return await platform.blobs.get(area, sha256, range, size);
};

/** Returns a signed link to the object store; null where the store offers none. */
export const linkToBytes = async (
  { blobs }: Platform,
  { project_id, sha256, size }: { project_id: number; sha256: string; size: number },
  fileName: string,
): Promise<string | null> => await blobs.link(artifactArea(project_id), sha256, fileName, size);

/** Serializes work on the same bytes within this process, so that a claim is not refused by the process itself. */
const withBlobMutex = async <T>(
  platform: Platform,
  { project_id, sha256 }: BlobKey,
  work: () => Promise<T>,
): Promise<T> => await withMutex(platform, `artifacts:${project_id}:${sha256}`, work);

const remove = async ({ blobs }: Platform, { project_id, sha256 }: BlobKey): Promise<void> =>
  await blobs.remove(artifactArea(project_id), sha256);

/** Deletes the blobs that no row references and that no process is about to reference. */
export const deleteUnreferencedBytes = async (
  platform: Platform,
  project_id: number,
  digests: readonly string[],
): Promise<void> => {
  for (const sha256 of new Set(digests)) {
    const blobKey = { project_id, sha256 };
    await withBlobMutex(platform, blobKey, async () => {
      const end = await claimForDeletion(platform, blobKey);
      if (end === null) return;
      try {
        await remove(platform, blobKey);
      } finally {
        await end();
      }
    });
  }
};

/** Removes bytes whose row was not written after all. Where that fails, `orphaned_blobs.ts` finds the old claim. */
const removeUnwritten = async (platform: Platform, blobKey: BlobKey, end: ReleaseClaim): Promise<void> => {
  if (await turnIntoDeletion(platform, blobKey)) {
    try {
      await remove(platform, blobKey);
    } catch {
      await leaveClaim(platform, blobKey);
      return;
    }
  }
  await end();
};

/**
 * Stores the bytes and writes the row that references them. A claim row is written first and stays until the reference
 * or the removal, so `orphaned_blobs.ts` finds the bytes of a process that died in between.
 * @throws Failure 503 where the disk takes no writes or another process is deleting the same bytes; a retry may succeed
 */
export const storeBytes = async <T extends object>(
  platform: Platform,
  project_id: number,
  content: Readable,
  write: (stored: Stored) => Promise<T>,
): Promise<T> => {
  const written: T[] = [];
  const placing: Placing = async (stored, place) => {
    const blobKey = { project_id, sha256: stored.sha256 };
    await withBlobMutex(platform, blobKey, async () => {
      const end = await claimForReference(platform, blobKey);
      if (end === null) throw unavailable();
      try {
        await place();
        publishReached('artifact.placed');
        written.push(await write(stored));
      } catch (error) {
        await removeUnwritten(platform, blobKey, end).catch(() => undefined);
        throw error;
      }
      await end();
    });
  };
  try {
    await platform.blobs.put(artifactArea(project_id), content, placing);
  } catch (error) {
    throw isDiskFailure(error) ? unavailable() : error;
  }
  const [kept] = written;
  if (kept === undefined) throw unavailable();
  return kept;
};
