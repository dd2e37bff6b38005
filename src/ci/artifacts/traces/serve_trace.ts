import type { Readable } from 'node:stream';
import type { Call } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { may } from '../../../core/access/may.ts';
import type { Range } from '../../../platform/blob/blob_files.ts';
import type { Answer } from '../../../platform/http/endpoint.ts';
import type { JobRow } from '../../jobs/rows.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { notFoundFailure } from '../failures.ts';
import { serveRange } from '../archives/serve_file.ts';

/** The reader of a trace. */
export type TraceReader = Pick<Call, 'platform' | 'db' | 'viewer'>;

/** Only users who can see the variables may read a trace with their values. */
const canRead = async (
  { db, viewer }: TraceReader,
  { project_id, debug_trace }: JobRow,
): Promise<boolean> => {
  if (debug_trace === 0) return true;
  const project = await loadProject(db, project_id);
  return project !== null && may(viewer, 'read_debug_trace', project);
};

/**
 * Returns the current length of a job's trace; null without a trace, or where the reader may not read it. The row of an
 * erased trace goes before its file.
 */
export const getTraceSize = async (reading: TraceReader, job: JobRow): Promise<number | null> => {
  if (job.erased_at !== null || !(await canRead(reading, job))) return null;
  const size = await reading.platform.traces.size(job);
  return size === 0 ? null : size;
};

/** Opens the trace; null if it is missing. */
export const readTrace = async (
  { traces }: Pick<Platform, 'traces'>,
  job: JobRow,
  range: Range,
): Promise<Readable | null> => await traces.read(job, range);

/**
 * Answers with the trace as the job printed it, so far.
 * @throws Failure 404
 */
export const serveTrace = async (call: Call, job: JobRow): Promise<Answer> => {
  const size = await getTraceSize(call, job);
  if (size === null) throw notFoundFailure();
  return await serveRange(call, {
    size,
    headers: {
      'content-type': 'text/plain',
      // `infile` is fixed by the contract.
      'content-disposition': `infile; filename="${job.id}.log"`,
    },
    open: async (range) => await readTrace(call.platform, job, range ?? { start: 0, end: size - 1 }),
  });
};
