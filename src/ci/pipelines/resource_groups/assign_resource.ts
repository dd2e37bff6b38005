/** Assigns the resource of a group to the next waiting job. */
import type { Reader, Store, Tx } from '../../../platform/db/open.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { advanceLockedPipeline } from '../processing/advance_pipeline.ts';
import { loadLatestJobs } from '../processing/latest_jobs.ts';
import { setStatus } from '../processing/set_job_statuses.ts';
import { enqueueJobs } from '../processing/pending_jobs.ts';
import { lockPipeline } from '../pipeline_rows.ts';
import { findResourceHolder, orderByTurn, selectUpcomingJobs } from './resource_queue.ts';

type Group = { project_id: number; key: string };
type NextJob = { id: number; pipeline_id: number; status: JobStatus };

const selectGroup = (db: Reader, { project_id, key }: Group) =>
  db
    .selectFrom('resource_groups')
    .select(['id', 'project_id', 'key', 'process_mode', 'job_id'])
    .where('project_id', '=', project_id)
    .where('key', '=', key);

const findNextJob = async (db: Reader, { project_id, key }: Group): Promise<NextJob | null> => {
  const group = await selectGroup(db, { project_id, key }).executeTakeFirst();
  if (group === undefined || (await findResourceHolder(db, group)) !== null) return null;
  const next = await orderByTurn(selectUpcomingJobs(db, group), group)
    .select(['id', 'pipeline_id', 'status'])
    .limit(1)
    .executeTakeFirst();
  return next?.status === 'waiting_for_resource' ? next : null;
};

/** Locks the pipeline and then the group, and assigns the resource if the candidate is still next. */
const assignToJob = async (tx: Tx, group: Group, candidate: NextJob): Promise<void> => {
  const pipeline = await lockPipeline(tx, candidate.pipeline_id);
  if (pipeline === null) return;
  await selectGroup(tx.db, group).modifyEnd(tx.dialect.forUpdate).execute();
  const next = await findNextJob(tx.db, group);
  if (next?.id !== candidate.id) return;
  const jobs = await loadLatestJobs(tx.db, pipeline.id);
  const chosen = jobs.filter(({ id }) => id === next.id);
  await tx.db
    .updateTable('resource_groups')
    .set({ job_id: next.id, updated_at: tx.now })
    .where('project_id', '=', group.project_id)
    .where('key', '=', group.key)
    .execute();
  await setStatus(tx, chosen, 'pending');
  await enqueueJobs(tx, chosen);
  await advanceLockedPipeline(tx, pipeline, { jobs });
};

/** Assigns the resource until it is held or no job waits. Idempotent. */
export const assignResource = async (store: Store, group: Group): Promise<void> => {
  for (;;) {
    const next = await findNextJob(store.db, group);
    if (next === null) return;
    await store.write(async (tx) => await assignToJob(tx, group, next));
  }
};
