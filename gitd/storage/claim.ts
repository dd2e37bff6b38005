/** Which instance the storage belongs to: compared before any of its repositories is touched. */
import type { MethodHandler, Storage } from '../context.ts';
import { GitError } from '../failure.ts';
import { dirOf } from './layout.ts';
import { inspectStorage, readMarker, writeMarker } from './marker.ts';

const unmarked = (): GitError =>
  new GitError('unavailable', 'the storage has no marker: it is not mounted, or was never used');

/**
 * For what is about to make a repository, or to say that none is there.
 * @throws GitError `unavailable` where the storage itself went away
 */
export const requireMarker = async (root: string): Promise<void> => {
  if ((await readMarker(root)) === null) throw unmarked();
};

/** @throws GitError `unavailable` for another instance than the one that the storage belongs to */
export const requireInstance = async (storage: Storage, instance: unknown): Promise<void> => {
  storage.owner.instance ??= await readMarker(storage.root);
  if (storage.owner.instance === null) throw unmarked();
  if (storage.owner.instance !== instance)
    throw new GitError('unavailable', 'the storage belongs to another instance');
};

export const inspect: MethodHandler<'storage.inspect'> = async ({ repositories }, { root }) => {
  for (const path of repositories) dirOf(root, path);
  return { result: await inspectStorage(root, repositories) };
};

export const claim: MethodHandler<'storage.claim'> = async ({ instance }, { root, owner }) => {
  if (!/^[0-9a-f-]{36}$/.test(instance)) throw new GitError('invalid', 'not the id of an instance');
  await writeMarker(root, instance);
  owner.instance = instance;
  return { result: {} };
};
