/** Files of jobs whose rows go: they are taken away afterwards, whatever becomes of the process. */
import type { Tx } from '../db/open.ts';
import { enqueue } from '../queue/queue.ts';

export const dropWork = 'artifacts.drop';

export type Dropped = {
  project_id: number;
  /** Jobs whose traces go. */
  jobs: readonly number[];
  /** SHA-256 of what may go, if nothing else names it. */
  digests: readonly string[];
};

export const dropLater = async (tx: Tx, { project_id, jobs, digests }: Dropped): Promise<void> => {
  if (jobs.length === 0 && digests.length === 0) return;
  const lists = { jobs: JSON.stringify(jobs), digests: JSON.stringify([...new Set(digests)]) };
  await enqueue(tx, dropWork, { project_id, ...lists });
};
