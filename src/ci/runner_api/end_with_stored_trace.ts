import type { Platform } from '../../core/platform.ts';
import { storeTraceLength } from '../artifacts/traces/store_trace_length.ts';
import type { TraceKey } from '../../platform/blob/trace_path.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { Job } from '../pipelines/pipeline_rows.ts';
import { withPipelineMutex } from '../pipelines/pipeline_mutex.ts';

/** Ends a job whose runner sends nothing more: the trace received so far is complete. */
export const endWithStoredTrace = async (
  { store, traces }: Pick<Platform, 'store' | 'traces'>,
  job: TraceKey & { pipeline_id: number },
  end: (tx: Tx) => Promise<Job | null>,
): Promise<Job | null> => {
  const trace = await traces.finish(job);
  const write = async (): Promise<Job | null> =>
    await store.write(async (tx) => {
      const ended = await end(tx);
      if (ended !== null) await storeTraceLength(tx, job.id, trace);
      return ended;
    });
  return await withPipelineMutex(store, job.pipeline_id, write);
};
