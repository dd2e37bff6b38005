/** What a runner is told of its job with each answer. */
import type { Call } from '../access/call.ts';
import { endCanceling } from '../pipelines/job_states.ts';
import { endWithTrace } from './end.ts';
import type { RunningJob, SignedJob } from './sign_in.ts';

/** Seconds between two pieces of a log: while somebody looks, and else. */
const intervals = { watched: '1', unwatched: '3' };

export const answerHeaders = (call: Call, job: RunningJob): Record<string, string> => {
  const isWatched = call.platform.traces.isWatched(job);
  return {
    'job-status': job.status,
    'x-gitlab-trace-update-interval': isWatched ? intervals.watched : intervals.unwatched,
  };
};

/**
 * One that is being cancelled ends at once where its runner would not take its time: that stops, and says no more.
 * @returns the job as its runner is to see it
 */
export const settled = async (call: Call, { job }: SignedJob): Promise<RunningJob> => {
  if (job.status !== 'canceling' || job.cancels_gracefully === 1) return job;
  await endWithTrace(call.platform, job, async (tx) => await endCanceling(tx, job.id));
  return { ...job, status: 'canceled' };
};
