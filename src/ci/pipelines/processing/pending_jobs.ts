/** The queue of jobs that wait for a runner; trigger jobs are enqueued as background work instead. */
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import { configMutexKey } from '../config/config_mutex.ts';
import type { Job } from '../pipeline_rows.ts';
import { insertMany } from '../../../platform/db/insert_many.ts';

/** Broadcast when jobs begin to wait for a runner. */
export const queueTopic = 'ci_queue';

/** Starts the downstream pipeline of a job. */
export const downstreamWork = 'pipelines.start_downstream';

type QueuedJob = Pick<Job, 'id' | 'project_id' | 'protected' | 'tag_list' | 'bridge'>;

const enqueueDownstreamStarts = async (tx: Tx, bridges: readonly QueuedJob[]): Promise<void> => {
  for (const { id: job_id, project_id } of bridges) {
    const turn = configMutexKey(project_id);
    await enqueue(tx, downstreamWork, { job_id }, { unique_key: `${downstreamWork}:${job_id}`, turn });
  }
};

export const enqueueJobs = async (tx: Tx, jobs: readonly QueuedJob[]): Promise<void> => {
  const builds = jobs.filter(({ bridge }) => bridge === 0);
  if (builds.length < jobs.length)
    await enqueueDownstreamStarts(
      tx,
      jobs.filter(({ bridge }) => bridge === 1),
    );
  if (builds.length === 0) return;
  const rows = builds.map((job) => ({
    job_id: job.id,
    project_id: job.project_id,
    protected: job.protected,
    tag_list: job.tag_list,
    created_at: tx.now,
  }));
  await insertMany(tx, 'pending_jobs', rows, 'on conflict do nothing');
  tx.broadcast(queueTopic);
};

const deletePendingJob = compiled((db, { id }: { id: number }) =>
  db.deleteFrom('pending_jobs').where('job_id', '=', id).compile(),
);

const deletePendingJobs = compiled((db, { ids }: { ids: number[] }, dialect) =>
  db.deleteFrom('pending_jobs').where(dialect.oneOf('job_id', ids)).compile(),
);

export const dequeueJobs = async (tx: Tx, jobs: readonly Pick<Job, 'id'>[]): Promise<void> => {
  const [id, ...others] = jobs.map((job) => job.id);
  if (id === undefined) return;
  if (others.length === 0) await deletePendingJob(tx.db, { id });
  else await deletePendingJobs(tx.db, { ids: [id, ...others] });
};
