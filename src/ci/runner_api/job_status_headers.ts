/** Headers about its job that each answer to a runner has. */
import type { Call } from '../../core/access/call.ts';
import { finishCanceling } from '../pipelines/processing/job_transitions.ts';
import { endWithStoredTrace } from './end_with_stored_trace.ts';
import type { RunningJob, AuthenticatedJob } from './authenticate_job.ts';

/** Seconds between two chunks of a trace: while somebody watches it, and otherwise. */
const intervals = { watched: '1', unwatched: '3' };

export const answerHeaders = (call: Call, job: RunningJob): Record<string, string> => {
  const isWatched = call.platform.traces.isWatched(job);
  return {
    'job-status': job.status,
    'x-gitlab-trace-update-interval': isWatched ? intervals.watched : intervals.unwatched,
  };
};

/**
 * Ends a job that is being canceled if its runner does not support graceful cancellation: that runner stops and sends
 * nothing more.
 * @returns the job as its runner should see it
 */
export const settleCancelled = async (call: Call, { job }: AuthenticatedJob): Promise<RunningJob> => {
  if (job.status !== 'canceling' || job.cancels_gracefully === 1) return job;
  await endWithStoredTrace(call.platform, job, async (tx) => await finishCanceling(tx, job.id));
  return { ...job, status: 'canceled' };
};
