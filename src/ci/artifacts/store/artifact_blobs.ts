/** Stores, reads and deletes the blobs of artifacts, deduplicated within a project. */
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

export const getBlob = async (
  platform: Platform,
  { project_id, sha256, size }: { project_id: number; sha256: string; size?: number },
  range?: Range,
): Promise<Readable | null> => {
  const area = artifactArea(project_id);
  if (range === undefined && size !== undefined) return await readVerified(platform, { area, sha256, size });
  return await platform.blobs.get(area, sha256, range, size);
};

/** Returns a signed link to the object store; null if the store offers none. */
export const linkToBlob = async (
  { blobs }: Platform,
  { project_id, sha256, size }: { project_id: number; sha256: string; size: number },
  fileName: string,
): Promise<string | null> => await blobs.link(artifactArea(project_id), sha256, fileName, size);

/** Serializes work on the same blob within this process, so that a process is never blocked by its own claim. */
const withBlobMutex = async <T>(
  platform: Platform,
  { project_id, sha256 }: BlobKey,
  work: () => Promise<T>,
): Promise<T> => await withMutex(platform, `artifacts:${project_id}:${sha256}`, work);

const remove = async ({ blobs }: Platform, { project_id, sha256 }: BlobKey): Promise<void> =>
  await blobs.remove(artifactArea(project_id), sha256);

/** Deletes the blobs that no row references and that no process is about to reference. */
export const deleteUnreferencedBlobs = async (
  platform: Platform,
  project_id: number,
  digests: readonly string[],
): Promise<void> => {
  for (const sha256 of new Set(digests)) {
    const blobKey = { project_id, sha256 };
    await withBlobMutex(platform, blobKey, async () => {
      const release = await claimForDeletion(platform, blobKey);
      if (release === null) return;
      try {
        await remove(platform, blobKey);
      } finally {
        await release();
      }
    });
  }
};

/** Removes a blob whose row was not written after all. If that fails, `orphaned_blobs.ts` later finds the claim. */
const removeUnwritten = async (
  platform: Platform,
  blobKey: BlobKey,
  release: ReleaseClaim,
): Promise<void> => {
  if (await turnIntoDeletion(platform, blobKey)) {
    try {
      await remove(platform, blobKey);
    } catch {
      await leaveClaim(platform, blobKey);
      return;
    }
  }
  await release();
};

/**
 * Stores a blob and writes the row that references it. A claim row is written first and stays until the reference or
 * the removal, so `orphaned_blobs.ts` finds the blob of a process that died in between.
 * @throws Failure 503 if the disk accepts no writes or another process is deleting the same blob; a retry may succeed
 */
export const storeBlob = async <T extends object>(
  platform: Platform,
  project_id: number,
  content: Readable,
  write: (stored: Stored) => Promise<T>,
): Promise<T> => {
  const written: T[] = [];
  const onStored: Placing = async (stored, place) => {
    const blobKey = { project_id, sha256: stored.sha256 };
    await withBlobMutex(platform, blobKey, async () => {
      const release = await claimForReference(platform, blobKey);
      if (release === null) throw unavailable();
      try {
        await place();
        publishReached('artifact.placed');
        written.push(await write(stored));
      } catch (error) {
        await removeUnwritten(platform, blobKey, release).catch(() => undefined);
        throw error;
      }
      await release();
    });
  };
  try {
    await platform.blobs.put(artifactArea(project_id), content, onStored);
  } catch (error) {
    throw isDiskFailure(error) ? unavailable() : error;
  }
  const [row] = written;
  if (row === undefined) throw unavailable();
  return row;
};
