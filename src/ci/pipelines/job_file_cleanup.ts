/** Enqueues the deletion of traces and artifacts of deleted jobs, so that it survives a crash. */
import type { Tx } from '../../platform/db/open.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';

export const dropWork = 'artifacts.drop';

/** Identifies the log of a job. */
export type Trace = { id: number; trace_key: string | null };

export type JobFiles = {
  project_id: number;
  /** Jobs whose traces are deleted. */
  jobs: readonly Trace[];
  /** SHA-256 digests to delete unless another artifact refers to them. */
  digests: readonly string[];
};

export const enqueueJobFileDeletion = async (
  tx: Tx,
  { project_id, jobs, digests }: JobFiles,
): Promise<void> => {
  if (jobs.length === 0 && digests.length === 0) return;
  const lists = {
    jobs: JSON.stringify(jobs.map(({ id, trace_key }) => [id, trace_key])),
    digests: JSON.stringify([...new Set(digests)]),
  };
  await enqueue(tx, dropWork, { project_id, ...lists });
};
