import type { Context, MethodHandler } from '../context.ts';
import { GitError } from '../failure.ts';
import { type RefUpdate, zeroOid } from '../protocol.ts';
import { ensureRepository } from '../storage/create.ts';
import { syncRefs } from '../storage/durable.ts';
import { clearLocksOnce } from '../storage/locks.ts';
import { reached } from '../effects.ts';
import { refsChanged } from './generation.ts';
import { isNewRef } from './names.ts';

const mostAtOnce = 100_000;

/**
 * Moves refs, all or none, each from what it must be now; on disk before it answers.
 * @throws GitError `conflict` where one is something else; `invalid` for a name that nobody may make
 */
export const updateRefs = async (
  context: Pick<Context, 'root' | 'dir' | 'pools'>,
  updates: readonly RefUpdate[],
): Promise<void> => {
  const { dir, pools } = context;
  if (updates.length === 0) return;
  if (updates.length > mostAtOnce) throw new GitError('limit', 'too many refs at once');
  const bad = updates.find(({ ref, new: next }) => next !== zeroOid && !isNewRef(ref));
  if (bad !== undefined) throw new GitError('invalid', 'not a name for a ref');
  await ensureRepository(context);
  await clearLocksOnce(dir);
  try {
    await pools.updateRef.update(dir, updates);
  } finally {
    refsChanged(dir); // also where it is not known whether they have moved
  }
  reached('refs.committed');
  const withDeletions = updates.some(({ new: next }) => next === zeroOid);
  await syncRefs(
    dir,
    updates.map(({ ref }) => ref),
    withDeletions,
  );
  reached('refs.durable');
};

export const updateRefsMethod: MethodHandler<'refs.update'> = async ({ updates }, context) => {
  await updateRefs(context, updates);
  return { result: {} };
};
