/** The bytes of artifacts: the same ones are kept once in a project. */
import type { Readable } from 'node:stream';
import type { Platform } from '../access/call.ts';
import type { Range, Stored } from '../blob/files.ts';
import { isDiskFull } from '../blob/folders.ts';
import type { Reader } from '../db/open.ts';
import { unavailable } from '../errors.ts';
import { inTurn } from '../merge_requests/in_turn.ts';
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

/** Rows are written and bytes removed one after another, so that no row is left without its bytes. */
const alone = async <T>(platform: Platform, projectId: number, work: () => Promise<T>): Promise<T> =>
  await inTurn(platform, `artifacts:${projectId}`, work);

const isNamed = async (db: Reader, projectId: number, sha256: string): Promise<boolean> => {
  const row = await db
    .selectFrom('artifacts')
    .select('id')
    .where('project_id', '=', projectId)
    .where('sha256', '=', sha256)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

/** Removes those bytes that no row names any more. */
export const dropBytes = async (
  platform: Platform,
  projectId: number,
  digests: readonly string[],
): Promise<void> => {
  for (const sha256 of new Set(digests)) {
    // oxlint-disable-next-line no-await-in-loop -- one file after another
    await alone(platform, projectId, async () => {
      if (await isNamed(platform.store.db, projectId, sha256)) return;
      await platform.blobs.remove(artifactArea(projectId), sha256);
    });
  }
};

/**
 * Writes what names these bytes.
 * @throws Failure 503 where they were taken away in between, as the same ones of another job: they may come again
 */
export const nameBytes = async <T>(
  platform: Platform,
  of: { project_id: number; sha256: string },
  write: () => Promise<T>,
): Promise<T> =>
  await alone(platform, of.project_id, async () => {
    if (!(await platform.blobs.has(artifactArea(of.project_id), of.sha256))) throw unavailable();
    return await write();
  });
