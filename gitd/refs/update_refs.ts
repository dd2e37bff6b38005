import type { Context, MethodHandler } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { DiedHolding } from '../pool/update_ref.ts';
import { type RefUpdate, zeroOid } from '../protocol_records.ts';
import { ensureRepository } from '../storage/create_repository.ts';
import { syncRefs } from '../disk/sync_folders.ts';
import { clearLocksOnce, removeLocksOfDead } from '../storage/stale_locks.ts';
import { reachFaultPoint } from '../fault_points.ts';
import { raiseGeneration } from './ref_generation.ts';
import { readTarget } from './read_refs.ts';
import { isNewRef } from '../ref_names.ts';

const maxUpdates = 100_000;

/** Lists the updates that were not applied. */
const notMade = async (context: Context, updates: readonly RefUpdate[]): Promise<RefUpdate[]> => {
  const made = await Promise.all(
    updates.map(async ({ ref, new: next }) => ((await readTarget(context, ref))?.id ?? zeroOid) === next),
  );
  return updates.filter((_update, index) => made[index] !== true);
};

/** Finishes an update whose process was killed with locks held. Otherwise the refs would stay locked for minutes. */
const takeOver = async (context: Context, updates: readonly RefUpdate[]): Promise<void> => {
  const unapplied = await notMade(context, updates);
  await removeLocksOfDead(context.dir, unapplied);
  if (unapplied.length === 0) return;
  try {
    await context.pools.updateRef.update(context.dir, unapplied);
  } catch (error) {
    // A refusal means that nothing has changed.
    throw unapplied.length < updates.length ? new GitError('unavailable', String(error)) : error;
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
 * Updates all refs or none, each from its expected value; on disk when it resolves.
 * @throws GitError `conflict` if a ref has another value; `invalid` for a name that may not be created
 */
export const updateRefs = async (context: Context, updates: readonly RefUpdate[]): Promise<void> => {
  const { dir } = context;
  if (updates.length === 0) return;
  if (updates.length > maxUpdates) throw new GitError('too_large', 'too many refs in one request');
  const bad = updates.find(({ ref, new: next }) => next !== zeroOid && !isNewRef(ref));
  if (bad !== undefined) throw new GitError('invalid', 'not a name for a ref');
  await ensureRepository(context);
  await clearLocksOnce(dir);
  try {
    await update(context, updates);
  } finally {
    raiseGeneration(dir); // also if the outcome is unknown
  }
  reachFaultPoint('refs.committed');
  const withDeletions = updates.some(({ new: next }) => next === zeroOid);
  await syncRefs(
    dir,
    updates.map(({ ref }) => ref),
    withDeletions,
  );
  reachFaultPoint('refs.durable');
};

export const updateRefsMethod: MethodHandler<'refs.update'> = async ({ updates }, context) => {
  await updateRefs(context, updates);
  return { result: {} };
};
