/** Writes repositories, bytes and logs of a backup to their places. Safe to run again after an interruption. */
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Blobs } from '../../platform/blob/blob_files.ts';
import { syncFolder } from '../../platform/blob/file_system.ts';
import { StartFailure } from '../../platform/errors.ts';
import type { Repository } from '../../platform/git/repository.ts';
import type { GitStorages } from '../../platform/git/storages.ts';
import type { BlobLine, ContentLine, LogLine, RepositoryLine, StoredObject } from './manifest.ts';
import { type BackupReader, openObject, readObject } from './places/backup_place.ts';

export type Restoring = {
  place: BackupReader;
  blobs: Blobs;
  git: GitStorages;
  /** The data folder. */
  data: string;
};

/**
 * Writes an object to a file readable only by its owner. The file gets its name only when it is complete and on disk.
 */
export const writeObject = async (
  place: BackupReader,
  { sha256 }: StoredObject,
  file: string,
): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.draft`;
  await rm(draft, { force: true });
  await pipeline(
    await openObject(place, sha256),
    createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }),
  );
  await rename(draft, file);
  await syncFolder(dirname(file));
};

const restoreBlob = async ({ place, blobs }: Restoring, { area, sha256 }: BlobLine): Promise<void> => {
  if (await blobs.has(area, sha256)) return;
  await blobs.put(area, await openObject(place, sha256));
};

const restoreLog = async ({ place, data }: Restoring, line: LogLine): Promise<void> => {
  const file = join(data, 'traces', line.path);
  await writeObject(place, line, file);
  if (line.masked) await writeFile(`${file}.masked`, '', { mode: 0o600 });
};

const writePack = async (
  place: BackupReader,
  repository: Repository,
  { sha256 }: StoredObject,
): Promise<void> => {
  const stream = await repository.stream('pack.write', {});
  stream.readable.resume();
  try {
    const sent = pipeline(await openObject(place, sha256), stream.writable);
    sent.catch(() => undefined); // git stops reading at the end of the pack; the result says what failed
    await Promise.all([stream.result, Promise.race([sent, stream.result])]);
  } finally {
    stream.destroy();
  }
};

/** Returns the repository of a line, as one that was never written to. */
export const openRepository = (git: GitStorages, line: RepositoryLine): Repository =>
  git.repository({
    id: line.project_id,
    repository_storage: line.storage,
    repository_path: line.path,
    repository_written: 0,
  });

/** Seconds to write all refs of a repository. */
const refsTimeout = 3_600;

/** Writes packs in their order, then all refs. */
export const writeRepository = async (
  place: BackupReader,
  repository: Repository,
  { packs, refs }: { packs: readonly StoredObject[]; refs: Buffer },
): Promise<void> => {
  for (const pack of packs) await writePack(place, repository, pack);
  await repository.ask('refs.restore', {}, refs, { seconds: refsTimeout });
};

const restoreRepository = async ({ place, git }: Restoring, line: RepositoryLine): Promise<void> => {
  const repository = openRepository(git, line);
  const refs = await readObject(place, line.refs.sha256);
  const { body } = await repository.read('refs.dump', {});
  if (body.length > 0 && body.equals(refs)) return;
  await writeRepository(place, repository, { packs: line.packs, refs });
};

/** @throws StartFailure that names what could not be restored */
export const restoreLine = async (restoring: Restoring, line: ContentLine): Promise<void> => {
  if (line.kind === 'blob') return await restoreBlob(restoring, line);
  if (line.kind === 'log') return await restoreLog(restoring, line);
  try {
    await restoreRepository(restoring, line);
  } catch (error) {
    throw new StartFailure(
      `the repository of project ${line.project_id} cannot be restored: ${(error as Error).message}`,
    );
  }
};

/** Syncs a file that another process wrote. */
export const syncFile = async (file: string): Promise<void> => {
  await using handle = await open(file, 'r');
  await handle.sync();
};
