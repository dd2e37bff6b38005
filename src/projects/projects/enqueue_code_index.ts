import type { Tx } from '../../platform/db/open.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';

/** Background work that makes the index of code equal to a project's default branch. */
export const indexCodeWork = 'repository.index_code';

/** Enqueues the work, at most once while it waits. One process at a time runs it for a project. */
export const enqueueCodeIndex = async (tx: Tx, project_id: number): Promise<void> => {
  const turn = `index code ${project_id}`;
  await enqueue(tx, indexCodeWork, { project_id }, { unique_key: turn, turn });
};
