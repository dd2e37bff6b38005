import type { Platform } from '../access/call.ts';
import { noteTrace } from '../artifacts/trace.ts';
import type { Named } from '../blob/append_files.ts';
import type { Tx } from '../db/open.ts';
import type { Job } from '../pipelines/store.ts';
import { inTurn } from '../pipelines/turns.ts';

/** Ends a job of which its runner says no more: what came of its log is all of it. */
export const endWithTrace = async (
  { store, traces }: Pick<Platform, 'store' | 'traces'>,
  job: Named & { pipeline_id: number },
  end: (tx: Tx) => Promise<Job | null>,
): Promise<Job | null> => {
  const trace = await traces.finish(job);
  const write = async (): Promise<Job | null> =>
    await store.write(async (tx) => {
      const ended = await end(tx);
      if (ended !== null) await noteTrace(tx, job.id, trace);
      return ended;
    });
  return await inTurn(store, job.pipeline_id, write);
};
