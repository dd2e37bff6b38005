/** What waits for a runner, or to start another pipeline. */
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';
import { enqueue } from '../queue/queue.ts';
import { configTurn } from './config_turn.ts';
import type { Job } from './store.ts';
import { insertMany } from './insert_many.ts';

/** Broadcast when jobs begin to wait for a runner. */
export const queueTopic = 'ci_queue';

/** A job starts another pipeline. */
export const downstreamWork = 'pipelines.start_downstream';

type Queued = Pick<Job, 'id' | 'project_id' | 'protected' | 'tag_list' | 'bridge'>;

const startLater = async (tx: Tx, bridges: readonly Queued[]): Promise<void> => {
  for (const { id: job_id, project_id } of bridges) {
    const turn = configTurn(project_id);
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await enqueue(tx, downstreamWork, { job_id }, { unique_key: `${downstreamWork}:${job_id}`, turn });
  }
};

export const putInQueue = async (tx: Tx, jobs: readonly Queued[]): Promise<void> => {
  const builds = jobs.filter(({ bridge }) => bridge === 0);
  if (builds.length < jobs.length)
    await startLater(
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

const deletion = compiled((db, { id }: { id: number }) =>
  db.deleteFrom('pending_jobs').where('job_id', '=', id).compile(),
);

const deletions = compiled((db, { ids }: { ids: number[] }, words) =>
  db.deleteFrom('pending_jobs').where(words.oneOf('job_id', ids)).compile(),
);

export const takeFromQueue = async (tx: Tx, jobs: readonly Pick<Job, 'id'>[]): Promise<void> => {
  const [id, ...others] = jobs.map((job) => job.id);
  if (id === undefined) return;
  if (others.length === 0) await deletion(tx.db, { id });
  else await deletions(tx.db, { ids: [id, ...others] });
};
