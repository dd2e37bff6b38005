/** Ends jobs as their runners report. Reports for one pipeline that arrive together share a transaction. */
import type { Platform } from '../../core/platform.ts';
import { storeTraceLength } from '../artifacts/traces/store_trace_length.ts';
import type { State } from '../../platform/blob/append_files.ts';
import type { TraceKey } from '../../platform/blob/trace_path.ts';
import type { Store, Tx } from '../../platform/db/open.ts';
import type { JobStatus } from '../../platform/db/schema/ci.ts';
import { type Finish, finishJob, finishIsolatedSuccesses } from '../pipelines/processing/job_transitions.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import { Batches } from './job_batches.ts';

type Ending = { id: number; finish: Finish; trace: State | null };

const endOne = async (tx: Tx, { id, finish, trace }: Ending): Promise<JobStatus | null> => {
  const ended = await finishJob(tx, id, finish);
  if (ended !== null) await storeTraceLength(tx, id, trace);
  return ended?.status ?? null;
};

/** Returns each job's new status, in order; null for a job that had ended before. */
const endAll = async (
  tx: Tx,
  pipeline_id: number,
  endings: readonly Ending[],
): Promise<(JobStatus | null)[]> => {
  const successes = endings.map(({ id, finish: { exit_code = null, coverage = null }, trace }) => ({
    id,
    success: { exit_code, coverage, trace },
  }));
  const areSuccesses = endings.every(({ finish }) => finish.status === 'success');
  const areOthers = new Set(endings.map(({ id }) => id)).size === endings.length;
  if (areSuccesses && areOthers && (await finishIsolatedSuccesses(tx, pipeline_id, successes)))
    return endings.map(() => 'success');
  const ended: (JobStatus | null)[] = [];
  for (const ending of endings) {
    ended.push(await endOne(tx, ending));
  }
  return ended;
};

const getBatches = memoizePerStore((store: Store) => new Batches<Ending, JobStatus | null>(store, endAll));

/** Ends a job with the trace received so far. Returns its new status; null if it had ended before. */
export const endAsReported = async (
  platform: Pick<Platform, 'store' | 'traces'>,
  job: TraceKey & { pipeline_id: number },
  finish: Finish,
): Promise<JobStatus | null> => {
  const trace = await platform.traces.finish(job);
  return await getBatches(platform.store).add(job.pipeline_id, { id: job.id, finish, trace });
};
