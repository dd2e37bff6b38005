import type { Readable } from 'node:stream';
import type { Call, Platform } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Range } from '../blob/files.ts';
import type { Answer } from '../http/endpoint.ts';
import type { JobRow } from '../jobs/rows.ts';
import { loadProject } from '../projects/find.ts';
import { nothingThere } from './failures.ts';
import { rangedAnswer } from './serve.ts';

/** Who asks for a trace. */
export type Reading = Pick<Call, 'platform' | 'db' | 'viewer'>;

/** A log that shows the values of variables is for those who may see to them. */
const mayRead = async ({ db, viewer }: Reading, { project_id, debug_trace }: JobRow): Promise<boolean> => {
  if (debug_trace === 0) return true;
  const project = await loadProject(db, project_id);
  return project !== null && may(viewer, 'read_debug_trace', project);
};

/**
 * How long the trace of a job is so far; null: there is none, or it is kept from who asks. What was erased is gone
 * before its file is.
 */
export const traceSize = async (reading: Reading, job: JobRow): Promise<number | null> => {
  if (job.erased_at !== null || !(await mayRead(reading, job))) return null;
  const size = await reading.platform.traces.size(job);
  return size === 0 ? null : size;
};

/** null: it is gone. */
export const readTrace = async (
  { traces }: Pick<Platform, 'traces'>,
  job: JobRow,
  range: Range,
): Promise<Readable | null> => await traces.read(job, range);

/**
 * What a job printed, as it was printed; of one that runs, so far.
 * @throws Failure 404
 */
export const traceAnswer = async (call: Call, job: JobRow): Promise<Answer> => {
  const size = await traceSize(call, job);
  if (size === null) throw nothingThere();
  return await rangedAnswer(call, {
    size,
    headers: {
      'content-type': 'text/plain',
      // The word of the contract.
      'content-disposition': `infile; filename="${job.id}.log"`,
    },
    open: async (range) => await readTrace(call.platform, job, range ?? { start: 0, end: size - 1 }),
  });
};
