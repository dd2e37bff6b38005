/** The long-lived git processes of a storage, a few for each repository in use. */
import type { Exec } from '../exec/spawn.ts';
import { type CatFilePool, makeCatFilePool } from './catfile.ts';
import { type DiffTreePool, makeDiffTreePool } from './difftree.ts';
import { type MergeTreePool, makeMergeTreePool } from './mergetree.ts';
import { type UpdateRefPool, makeUpdateRefPool } from './updateref.ts';

export type Pools = {
  catFile: CatFilePool;
  diffTree: DiffTreePool;
  mergeTree: MergeTreePool;
  updateRef: UpdateRefPool;
  /** Ends the processes of one repository: before it is removed or replaced. */
  forget: (dir: string) => Promise<void>;
  stop: () => Promise<void>;
};

export const makePools = (exec: Exec): Pools => {
  const catFile = makeCatFilePool(exec);
  const diffTree = makeDiffTreePool(exec);
  const mergeTree = makeMergeTreePool(exec);
  const updateRef = makeUpdateRefPool(exec);
  const all = [catFile, diffTree, mergeTree, updateRef];
  return {
    catFile,
    diffTree,
    mergeTree,
    updateRef,
    forget: async (dir) => void (await Promise.all(all.map(async (pool) => await pool.forget(dir)))),
    stop: async () => void (await Promise.all(all.map(async (pool) => await pool.stop()))),
  };
};
