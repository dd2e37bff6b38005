/** What waits for a runner. */
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';
import type { Job } from './store.ts';
import { insertMany } from './insert_many.ts';

/** Broadcast when jobs begin to wait for a runner. */
export const queueTopic = 'ci_queue';

type Queued = Pick<Job, 'id' | 'project_id' | 'protected' | 'tag_list'>;

export const putInQueue = async (tx: Tx, jobs: readonly Queued[]): Promise<void> => {
  if (jobs.length === 0) return;
  const rows = jobs.map((job) => ({
    job_id: job.id,
    project_id: job.project_id,
    protected: job.protected,
    tag_list: job.tag_list,
    created_at: tx.now,
  }));
  await insertMany(tx, 'pending_jobs', rows, 'on conflict do nothing');
  tx.broadcast(queueTopic);
};

const deletion = compiled((db, { ids }: { ids: number[] }, words) =>
  db.deleteFrom('pending_jobs').where(words.oneOf('job_id', ids)).compile(),
);

export const takeFromQueue = async (tx: Tx, jobs: readonly Pick<Job, 'id'>[]): Promise<void> => {
  if (jobs.length > 0) await deletion(tx.db, { ids: jobs.map(({ id }) => id) });
};
