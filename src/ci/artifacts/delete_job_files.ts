import type { Platform } from '../../core/platform.ts';
import type { Payload } from '../../platform/queue/enqueue.ts';
import { deleteUnreferencedBlobs } from './store/artifact_blobs.ts';

/** Deletes the traces and blobs that `enqueueJobFileDeletion` named. */
export const deleteJobFiles = async (platform: Platform, payload: Payload): Promise<void> => {
  const project_id = Number(payload['project_id']);
  // Earlier versions enqueued only ids.
  const jobs = JSON.parse(String(payload['jobs'])) as (number | [number, string | null])[];
  for (const job of jobs) {
    const [id, trace_key] = typeof job === 'number' ? [job, null] : job;
    await platform.traces.remove({ project_id, id, trace_key });
  }
  await deleteUnreferencedBlobs(platform, project_id, JSON.parse(String(payload['digests'])) as string[]);
};
