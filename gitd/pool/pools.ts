/** The pools of long-lived git processes of a storage. */
import type { Exec } from '../exec/spawn.ts';
import { type CatFilePool, makeCatFilePool } from './cat_file.ts';
import { type DiffTreePool, makeDiffTreePool } from './diff_tree.ts';
import { type MergeTreePool, makeMergeTreePool } from './merge_tree.ts';
import { type UpdateRefPool, makeUpdateRefPool } from './update_ref.ts';

export type Pools = {
  catFile: CatFilePool;
  diffTree: DiffTreePool;
  mergeTree: MergeTreePool;
  updateRef: UpdateRefPool;
  /** Ends the processes of one repository, before it is removed or replaced. */
  endWorkers: (dir: string) => Promise<void>;
  stop: () => Promise<void>;
};

export const makePools = (exec: Exec): Pools => {
  const catFile = makeCatFilePool(exec);
  const diffTree = makeDiffTreePool(exec);
  const mergeTree = makeMergeTreePool(exec);
  const updateRef = makeUpdateRefPool(exec);
  const pools = [catFile, diffTree, mergeTree, updateRef];
  return {
    catFile,
    diffTree,
    mergeTree,
    updateRef,
    endWorkers: async (dir) =>
      void (await Promise.all(pools.map(async (pool) => await pool.endWorkers(dir)))),
    stop: async () => void (await Promise.all(pools.map(async (pool) => await pool.stop()))),
  };
};
