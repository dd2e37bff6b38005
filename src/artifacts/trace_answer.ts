import type { Call } from '../access/call.ts';
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
    open: async (range) => await call.platform.traces.read(job, range ?? { start: 0, end: size - 1 }),
  });
};
