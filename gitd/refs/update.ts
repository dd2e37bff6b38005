import type { Context, MethodHandler } from '../context.ts';
import { GitError } from '../failure.ts';
import { DiedHolding } from '../pool/updateref.ts';
import { type RefUpdate, zeroOid } from '../protocol.ts';
import { ensureRepository } from '../storage/create.ts';
import { syncRefs } from '../storage/durable.ts';
import { clearLocksOnce, removeLocksOfDead } from '../storage/locks.ts';
import { reached } from '../effects.ts';
import { refsChanged } from './generation.ts';
import { targetOf } from './get.ts';
import { isNewRef } from './names.ts';

const mostAtOnce = 100_000;

/** Those that are not what they were to become. */
const notMade = async (context: Context, updates: readonly RefUpdate[]): Promise<RefUpdate[]> => {
  const made = await Promise.all(
    updates.map(async ({ ref, new: next }) => ((await targetOf(context, ref))?.id ?? zeroOid) === next),
  );
  return updates.filter((_update, index) => made[index] !== true);
};

/** Ends what a process began that was killed with its locks in hand: else nobody could move these refs for minutes. */
const takeOver = async (context: Context, updates: readonly RefUpdate[]): Promise<void> => {
  const left = await notMade(context, updates);
  await removeLocksOfDead(context.dir, left);
  if (left.length === 0) return;
  try {
    await context.pools.updateRef.update(context.dir, left);
  } catch (error) {
    // A refusal says that nothing has changed.
    throw left.length < updates.length ? new GitError('unavailable', String(error)) : error;
  }
};

const update = async (context: Context, updates: readonly RefUpdate[]): Promise<void> => {
  try {
    await context.pools.updateRef.update(context.dir, updates);
  } catch (error) {
    if (!(error instanceof DiedHolding)) throw error;
    await takeOver(context, updates);
  }
};

/**
 * Moves refs, all or none, each from what it must be now; on disk before it answers.
 * @throws GitError `conflict` where one is something else; `invalid` for a name that nobody may make
 */
export const updateRefs = async (context: Context, updates: readonly RefUpdate[]): Promise<void> => {
  const { dir } = context;
  if (updates.length === 0) return;
  if (updates.length > mostAtOnce) throw new GitError('too_large', 'too many refs at once');
  const bad = updates.find(({ ref, new: next }) => next !== zeroOid && !isNewRef(ref));
  if (bad !== undefined) throw new GitError('invalid', 'not a name for a ref');
  await ensureRepository(context);
  await clearLocksOnce(dir);
  try {
    await update(context, updates);
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
