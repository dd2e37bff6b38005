/** The bytes of artifacts: the same ones are kept once in a project. */
import type { Readable } from 'node:stream';
import type { Platform } from '../access/call.ts';
import type { Placing, Range, Stored } from '../blob/files.ts';
import { isDiskFull } from '../blob/folders.ts';
import { unavailable } from '../errors.ts';
import { reached } from '../git/effects.ts';
import { inTurn } from '../in_turn.ts';
import { type BytesOf, type Hold, holdToName, holdToRemove, holdToTakeBack, leave } from './holds.ts';
import { artifactArea } from './rules.ts';

export const getBytes = async (
  { blobs }: Platform,
  { project_id, sha256, size }: { project_id: number; sha256: string; size?: number },
  range?: Range,
): Promise<Readable | null> => await blobs.get(artifactArea(project_id), sha256, range, size);

/** Where others may read them without us; null: nowhere. */
export const linkToBytes = async (
  { blobs }: Platform,
  { project_id, sha256 }: { project_id: number; sha256: string },
  fileName: string,
): Promise<string | null> => await blobs.link(artifactArea(project_id), sha256, fileName);

/** Of this process's own, one after another: so that nobody is refused whose turn comes in a moment. */
const alone = async <T>(
  platform: Platform,
  { project_id, sha256 }: BytesOf,
  work: () => Promise<T>,
): Promise<T> => await inTurn(platform, `artifacts:${project_id}:${sha256}`, work);

const remove = async ({ blobs }: Platform, { project_id, sha256 }: BytesOf): Promise<void> =>
  await blobs.remove(artifactArea(project_id), sha256);

/** Removes those bytes that no row names any more, and that nobody is about to name. */
export const dropBytes = async (
  platform: Platform,
  project_id: number,
  digests: readonly string[],
): Promise<void> => {
  for (const sha256 of new Set(digests)) {
    const of = { project_id, sha256 };
    // oxlint-disable-next-line no-await-in-loop -- one file after another
    await alone(platform, of, async () => {
      const end = await holdToRemove(platform, of);
      if (end === null) return;
      try {
        await remove(platform, of);
      } finally {
        await end();
      }
    });
  }
};

/** Bytes that were about to be named, and are not: what cannot be removed now is left to those who look for old holds. */
const takeBack = async (platform: Platform, of: BytesOf, end: Hold): Promise<void> => {
  if (await holdToTakeBack(platform, of)) {
    try {
      await remove(platform, of);
    } catch {
      await leave(platform, of);
      return;
    }
  }
  await end();
};

/**
 * Keeps the bytes, and writes what names them. They get their place once a row says who is about to name them, which is
 * there until they are named or gone: so `left_bytes.ts` finds those of a process that died in between.
 * @throws Failure 503 where the disk is full, or they are taken away by now, as the same ones of another job: they may
 * come again
 */
export const keepBytes = async <T extends object>(
  platform: Platform,
  project_id: number,
  content: Readable,
  write: (stored: Stored) => Promise<T>,
): Promise<T> => {
  const written: T[] = [];
  const placing: Placing = async (stored, place) => {
    const of = { project_id, sha256: stored.sha256 };
    await alone(platform, of, async () => {
      const end = await holdToName(platform, of);
      if (end === null) throw unavailable();
      try {
        await place();
        reached('artifact.placed');
        written.push(await write(stored));
      } catch (error) {
        await takeBack(platform, of, end).catch(() => undefined);
        throw error;
      }
      await end();
    });
  };
  try {
    await platform.blobs.put(artifactArea(project_id), content, placing);
  } catch (error) {
    throw isDiskFull(error) ? unavailable() : error;
  }
  const [kept] = written;
  if (kept === undefined) throw unavailable();
  return kept;
};
