/** Jobs that end at one moment, as their runners say: those of one pipeline in one transaction. */
import type { Platform } from '../access/call.ts';
import { noteTrace } from '../artifacts/trace.ts';
import type { Named, State } from '../blob/append_files.ts';
import type { Store, Tx } from '../db/open.ts';
import type { JobStatus } from '../db/schema_ci.ts';
import { type Finish, finishJob, succeedQuietly } from '../pipelines/job_states.ts';
import { oncePer } from '../once_per.ts';
import { Batches } from './batches.ts';

type Ending = { id: number; finish: Finish; trace: State | null };

const endOne = async (tx: Tx, { id, finish, trace }: Ending): Promise<JobStatus | null> => {
  const ended = await finishJob(tx, id, finish);
  if (ended !== null) await noteTrace(tx, id, trace);
  return ended?.status ?? null;
};

/** Answers what each then is, in their order; null: it had ended before. */
const endAll = async (tx: Tx, pipeline_id: number, all: readonly Ending[]): Promise<(JobStatus | null)[]> => {
  const successes = all.map(({ id, finish: { exit_code = null, coverage = null }, trace }) => ({
    id,
    success: { exit_code, coverage, trace },
  }));
  const areSuccesses = all.every(({ finish }) => finish.status === 'success');
  const areOthers = new Set(all.map(({ id }) => id)).size === all.length;
  if (areSuccesses && areOthers && (await succeedQuietly(tx, pipeline_id, successes)))
    return all.map(() => 'success');
  const ended: (JobStatus | null)[] = [];
  for (const one of all) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    ended.push(await endOne(tx, one));
  }
  return ended;
};

const batchesOf = oncePer((store: Store) => new Batches<Ending, JobStatus | null>(store, endAll));

/** What it then is; null: it had ended before. What came of its log is all of it. */
export const endByRunner = async (
  platform: Pick<Platform, 'store' | 'traces'>,
  job: Named & { pipeline_id: number },
  finish: Finish,
): Promise<JobStatus | null> => {
  const trace = await platform.traces.finish(job);
  return await batchesOf(platform.store).add(job.pipeline_id, { id: job.id, finish, trace });
};
