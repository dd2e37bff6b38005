import type { Context } from '../handler_types.ts';
import type { Oid } from '../protocol_records.ts';

type PooledDiff = { trees: [from: Oid, to: Oid]; seconds: number };

/**
 * Compares trees in a pooled process. Takes an interactive slot, as a process of its own would, so that clients take
 * turns.
 * @throws GitError `unavailable` when too many processes are waiting
 */
export const diffInPool = async (
  { dir, signal, exec, pools }: Context,
  diff: PooledDiff,
  push: (chunk: Buffer) => boolean,
): Promise<void> => {
  const releaseSlot = await exec.takeSlot({ slot: 'interactive', signal });
  try {
    await pools.diffTree.run({ ...diff, dir, signal }, push);
  } finally {
    releaseSlot();
  }
};
