/** Compares the instance that owns the storage before any of its repositories is touched. */
import type { MethodHandler, Storage } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { resolveRepositoryPath } from '../disk/storage_paths.ts';
import { inspectStorage } from '../disk/inspect_storage.ts';
import { readMarker, writeMarker } from '../disk/instance_marker.ts';

const unmarked = (): GitError =>
  new GitError('unavailable', 'the storage has no marker: it is not mounted, or was never used');

/**
 * Checks that the storage's marker is still there, before a repository is created or reported missing.
 * @throws GitError `unavailable`
 */
export const requireMarker = async (root: string): Promise<void> => {
  if ((await readMarker(root)) === null) throw unmarked();
};

/** Checks that the storage belongs to this instance. @throws GitError `unavailable` */
export const requireInstance = async (storage: Storage, instance: unknown): Promise<void> => {
  storage.owner.instance ??= await readMarker(storage.root);
  if (storage.owner.instance === null) throw unmarked();
  if (storage.owner.instance !== instance)
    throw new GitError('unavailable', 'the storage belongs to another instance');
};

export const inspect: MethodHandler<'storage.inspect'> = async ({ repositories }, { root }) => {
  for (const path of repositories) resolveRepositoryPath(root, path);
  return { result: await inspectStorage(root, repositories) };
};

export const claim: MethodHandler<'storage.claim'> = async ({ instance }, { root, owner }) => {
  if (!/^[0-9a-f-]{36}$/.test(instance)) throw new GitError('invalid', 'not the id of an instance');
  await writeMarker(root, instance);
  owner.instance = instance;
  return { result: {} };
};
