/** Selects the holder of a resource group and the jobs that wait for it. */
import type { Selectable } from 'kysely';
import type { Reader } from '../../../platform/db/open.ts';
import type { JobStatus, ResourceGroupsTable } from '../../../platform/db/schema/ci.ts';

export type ResourceGroup = Selectable<ResourceGroupsTable>;

const holdingStatuses: JobStatus[] = ['pending', 'running', 'canceling'];

/** Returns the id of the job that holds the resource; null if it is free. */
export const findResourceHolder = async (
  db: Reader,
  { job_id }: Pick<ResourceGroup, 'job_id'>,
): Promise<number | null> => {
  if (job_id === null) return null;
  const holder = await db.selectFrom('jobs').select('status').where('id', '=', job_id).executeTakeFirst();
  return holder !== undefined && holdingStatuses.includes(holder.status) ? job_id : null;
};

/** In modes that order by age, jobs that are not ready yet also count. */
const waitingStatuses: JobStatus[] = ['waiting_for_resource', 'created', 'scheduled'];
const readyStatuses: JobStatus[] = ['waiting_for_resource'];

const newestFirstModes = new Set<string>(['newest_first', 'newest_ready_first']);
const readyOnlyModes = new Set<string>(['unordered', 'newest_ready_first']);

/** Selects the jobs that wait for the resource of a group. */
export const selectUpcomingJobs = (
  db: Reader,
  { project_id, key, process_mode }: Pick<ResourceGroup, 'project_id' | 'key' | 'process_mode'>,
) =>
  db
    .selectFrom('jobs')
    .where('project_id', '=', project_id)
    .where('status', 'in', readyOnlyModes.has(process_mode) ? readyStatuses : waitingStatuses)
    .where('resource_group', '=', key)
    .where('retried', '=', 0);

/** Orders waiting jobs by who gets the resource next. */
export const orderByTurn = (
  query: ReturnType<typeof selectUpcomingJobs>,
  { process_mode }: Pick<ResourceGroup, 'process_mode'>,
) =>
  query
    .orderBy('jobs.pipeline_id', newestFirstModes.has(process_mode) ? 'desc' : 'asc')
    .orderBy(({ eb }) => eb.case().when('status', '=', 'waiting_for_resource').then(0).else(1).end())
    .orderBy('jobs.id');
