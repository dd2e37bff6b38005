/**
 * Enqueues the deletion of job traces and artifact files in the transaction that removes their rows, so that a crash
 * leaves no files behind.
 */
import type { Tx } from '../../platform/db/open.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';

export const jobFileDeletionWork = 'artifacts.drop';

/** Identifies the trace (log) of the job with this id. */
export type TraceRef = { id: number; trace_key: string | null };

export type JobFiles = {
  project_id: number;
  traces: readonly TraceRef[];
  /** SHA-256 digests of the blobs to delete, unless another artifact refers to them. */
  digests: readonly string[];
};

export const enqueueJobFileDeletion = async (
  tx: Tx,
  { project_id, traces, digests }: JobFiles,
): Promise<void> => {
  if (traces.length === 0 && digests.length === 0) return;
  const lists = {
    jobs: JSON.stringify(traces.map(({ id, trace_key }) => [id, trace_key])),
    digests: JSON.stringify([...new Set(digests)]),
  };
  await enqueue(tx, jobFileDeletionWork, { project_id, ...lists });
};
