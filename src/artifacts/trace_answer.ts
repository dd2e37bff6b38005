import type { Readable } from 'node:stream';
import type { Call, Platform } from '../access/call.ts';
import type { Range } from '../blob/files.ts';
import type { Answer } from '../http/endpoint.ts';
import type { JobRow } from '../jobs/rows.ts';
import { nothingThere } from './failures.ts';
import { rangedAnswer } from './serve.ts';

/** How long the trace of a job is so far; null: there is none. What was erased is gone before its file is. */
export const traceSize = async (
  { platform }: Pick<Call, 'platform'>,
  job: JobRow,
): Promise<number | null> => {
  const size = job.erased_at === null ? await platform.traces.size(job) : null;
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
