import { randomBytes } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../disk/make_folder.ts';
import { hasCode } from '../git_error.ts';
import type { MethodHandler } from '../handler_types.ts';
import { raiseGeneration } from '../refs/ref_generation.ts';
import { requireMarker } from '../storage/claim_storage.ts';
import { syncFolder } from '../disk/sync_folders.ts';
import { getDeletedFolder } from '../disk/storage_paths.ts';

/** Removes a repository by a rename. Its files are deleted afterwards, here or by the janitor. */
export const removeRepository: MethodHandler<'repository.remove'> = async (_params, context) => {
  const { dir, root, pools, log } = context;
  await pools.endWorkers(dir);
  const away = join(getDeletedFolder(root), `${Date.now()}-${randomBytes(6).toString('hex')}`);
  await requireMarker(root);
  await makeFolder(dirname(away));
  try {
    await rename(dir, away);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return { result: {} };
  }
  raiseGeneration(dir);
  await pools.endWorkers(dir);
  await Promise.all([syncFolder(dirname(dir)), syncFolder(dirname(away))]);
  rm(away, { recursive: true, force: true }).catch((error: unknown) =>
    log('a deleted repository is still on disk', { away, error: String(error) }),
  );
  return { result: {} };
};
