/** Jobs of a locked pipeline that are to be no more; `advance` is the caller's. */
import type { Tx } from '../db/open.ts';
import { jobEnded } from '../environments/follow.ts';
import { cancelableStatuses } from '../job_statuses.ts';
import { setStatus } from './move_jobs.ts';
import { takeFromQueue } from './queue.ts';
import type { Job } from './store.ts';

type Cancelled = Pick<Job, 'id' | 'project_id' | 'resource_group' | 'status' | 'environment' | 'bridge'>;

export const isCancelable = ({ status }: Pick<Job, 'status'>): boolean => cancelableStatuses.includes(status);

/** One whose runner was lost has begun to deploy. */
const endDeployments = async (tx: Tx, jobs: readonly Cancelled[]): Promise<void> => {
  const ids = jobs.filter(({ environment }) => environment !== null).map(({ id }) => id);
  if (ids.length === 0) return;
  const rows = await tx.db
    .selectFrom('deployments')
    .innerJoin('jobs', 'jobs.id', 'deployments.job_id')
    .selectAll('jobs')
    .where(tx.words.oneOf('deployments.job_id', ids))
    .execute();
  // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
  for (const row of rows) await jobEnded(tx, row);
};

/** What runs is `canceling`: its runner hears of it, and keeps its token for what it does at the end. */
export const cancelJobs = async (tx: Tx, jobs: readonly Cancelled[]): Promise<void> => {
  const cancelable = jobs.filter(isCancelable);
  const isRun = ({ status, bridge }: Cancelled): boolean => status === 'running' && bridge === 0;
  const running = cancelable.filter(isRun);
  const waiting = cancelable.filter((job) => !isRun(job));
  const queued = waiting.filter(({ status }) => status === 'pending' || status === 'running');
  await takeFromQueue(tx, queued);
  await setStatus(tx, waiting, 'canceled', { cancelled_at: tx.now });
  await endDeployments(tx, queued);
  await setStatus(tx, running, 'canceling', { cancelled_at: tx.now });
};
