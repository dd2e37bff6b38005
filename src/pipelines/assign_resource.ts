/** Gives the resource of a group to the next who waits for it. */
import type { Reader, Store, Tx } from '../db/open.ts';
import type { JobStatus } from '../db/schema_ci.ts';
import { advanceLocked } from './advance.ts';
import { loadLatestJobs } from './latest_jobs.ts';
import { setStatus } from './move_jobs.ts';
import { putInQueue } from './queue.ts';
import { lockPipeline } from './store.ts';
import { holderOf, byTurn, upcomingJobs } from './upcoming_jobs.ts';

type Group = { project_id: number; key: string };
type Next = { id: number; pipeline_id: number; status: JobStatus };

const groupRow = (db: Reader, { project_id, key }: Group) =>
  db
    .selectFrom('resource_groups')
    .select(['id', 'project_id', 'key', 'process_mode', 'job_id'])
    .where('project_id', '=', project_id)
    .where('key', '=', key);

const nextJob = async (db: Reader, { project_id, key }: Group): Promise<Next | null> => {
  const group = await groupRow(db, { project_id, key }).executeTakeFirst();
  if (group === undefined || (await holderOf(db, group)) !== null) return null;
  const next = await byTurn(upcomingJobs(db, group), group)
    .select(['id', 'pipeline_id', 'status'])
    .limit(1)
    .executeTakeFirst();
  return next?.status === 'waiting_for_resource' ? next : null;
};

/** Under the lock of the pipeline, then of the group: what was seen before may be so no more. */
const assign = async (tx: Tx, group: Group, seen: Next): Promise<void> => {
  const pipeline = await lockPipeline(tx, seen.pipeline_id);
  if (pipeline === null) return;
  await groupRow(tx.db, group).modifyEnd(tx.words.forUpdate).execute();
  const next = await nextJob(tx.db, group);
  if (next?.id !== seen.id) return;
  const jobs = await loadLatestJobs(tx.db, pipeline.id);
  const chosen = jobs.filter(({ id }) => id === next.id);
  await tx.db
    .updateTable('resource_groups')
    .set({ job_id: next.id, updated_at: tx.now })
    .where('project_id', '=', group.project_id)
    .where('key', '=', group.key)
    .execute();
  await setStatus(tx, chosen, 'pending');
  await putInQueue(tx, chosen);
  await advanceLocked(tx, pipeline, { jobs });
};

/** Safe to be called twice: it looks until there is nobody to give it to. */
export const assignResource = async (store: Store, group: Group): Promise<void> => {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    const next = await nextJob(store.db, group);
    if (next === null) return;
    // oxlint-disable-next-line no-await-in-loop
    await store.write(async (tx) => await assign(tx, group, next));
  }
};
