/** The bytes of artifacts: the same ones are kept once in a project. */
import type { Readable } from 'node:stream';
import type { Platform } from '../access/call.ts';
import type { Range, Stored } from '../blob/files.ts';
import { isDiskFull } from '../blob/folders.ts';
import { unavailable } from '../errors.ts';
import { inTurn } from '../in_turn.ts';
import { type BytesOf, holdToName, holdToRemove } from './holds.ts';
import { artifactArea } from './rules.ts';

/** @throws Failure 503 where the disk is full */
export const putBytes = async (
  { blobs }: Platform,
  projectId: number,
  content: Readable,
): Promise<Stored> => {
  try {
    return await blobs.put(artifactArea(projectId), content);
  } catch (error) {
    throw isDiskFull(error) ? unavailable() : error;
  }
};

export const getBytes = async (
  { blobs }: Platform,
  { project_id, sha256 }: { project_id: number; sha256: string },
  range?: Range,
): Promise<Readable | null> => await blobs.get(artifactArea(project_id), sha256, range);

/** Where others may read them without us; null: nowhere. */
export const linkToBytes = async (
  { blobs }: Platform,
  { project_id, sha256 }: { project_id: number; sha256: string },
  fileName: string,
): Promise<string | null> => await blobs.link(artifactArea(project_id), sha256, fileName);

/** Of this process's own, one after another: so that nobody is refused whose turn comes in a moment. */
const alone = async <T>(platform: Platform, projectId: number, work: () => Promise<T>): Promise<T> =>
  await inTurn(platform, `artifacts:${projectId}`, work);

/** Removes those bytes that no row names any more, and that nobody is about to name. */
export const dropBytes = async (
  platform: Platform,
  projectId: number,
  digests: readonly string[],
): Promise<void> => {
  for (const sha256 of new Set(digests)) {
    // oxlint-disable-next-line no-await-in-loop -- one file after another
    await alone(platform, projectId, async () => {
      const end = await holdToRemove(platform, { project_id: projectId, sha256 });
      if (end === null) return;
      try {
        await platform.blobs.remove(artifactArea(projectId), sha256);
      } finally {
        await end();
      }
    });
  }
};

/**
 * Writes what names these bytes.
 * @throws Failure 503 where they are taken away by now, as the same ones of another job: they may come again
 */
export const nameBytes = async <T>(platform: Platform, of: BytesOf, write: () => Promise<T>): Promise<T> =>
  await alone(platform, of.project_id, async () => {
    const end = await holdToName(platform, of);
    if (end === null) throw unavailable();
    try {
      if (!(await platform.blobs.has(artifactArea(of.project_id), of.sha256))) throw unavailable();
      return await write();
    } finally {
      await end();
    }
  });
