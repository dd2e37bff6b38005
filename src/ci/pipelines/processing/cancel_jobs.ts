/** Cancels jobs of a locked pipeline. The caller advances the pipeline. */
import type { Tx } from '../../../platform/db/open.ts';
import { handleJobEnd } from '../../environments/follow_jobs.ts';
import { cancelableStatuses } from '../../../core/job_statuses.ts';
import { setStatus } from './set_job_statuses.ts';
import { dequeueJobs } from './pending_jobs.ts';
import type { Job } from '../pipeline_rows.ts';

type CancelableJob = Pick<Job, 'id' | 'project_id' | 'resource_group' | 'status' | 'environment' | 'bridge'>;

export const isCancelable = ({ status }: Pick<Job, 'status'>): boolean => cancelableStatuses.includes(status);

/** Ends the deployments of canceled jobs that had started before their runner was lost. */
const endDeployments = async (tx: Tx, jobs: readonly CancelableJob[]): Promise<void> => {
  const ids = jobs.filter(({ environment }) => environment !== null).map(({ id }) => id);
  if (ids.length === 0) return;
  const rows = await tx.db
    .selectFrom('deployments')
    .innerJoin('jobs', 'jobs.id', 'deployments.job_id')
    .selectAll('jobs')
    .where(tx.dialect.oneOf('deployments.job_id', ids))
    .execute();
  for (const row of rows) await handleJobEnd(tx, row);
};

/** Cancels waiting jobs immediately. Running jobs become `canceling` and keep their token for `after_script`. */
export const cancelJobs = async (tx: Tx, jobs: readonly CancelableJob[]): Promise<void> => {
  const cancelable = jobs.filter(isCancelable);
  const isRunningBuild = ({ status, bridge }: CancelableJob): boolean => status === 'running' && bridge === 0;
  const running = cancelable.filter(isRunningBuild);
  const waiting = cancelable.filter((job) => !isRunningBuild(job));
  const queued = waiting.filter(({ status }) => status === 'pending' || status === 'running');
  await dequeueJobs(tx, queued);
  await setStatus(tx, waiting, 'canceled', { cancelled_at: tx.now });
  await endDeployments(tx, queued);
  await setStatus(tx, running, 'canceling', { cancelled_at: tx.now });
};
