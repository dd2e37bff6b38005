/** Whose turn it is in a resource group. */
import type { Selectable } from 'kysely';
import type { Reader } from '../db/open.ts';
import type { JobStatus, ResourceGroupsTable } from '../db/schema_ci.ts';

export type ResourceGroup = Selectable<ResourceGroupsTable>;

const holding: JobStatus[] = ['pending', 'running', 'canceling'];

/** The id of the job that has it now; null: it is free. */
export const holderOf = async (
  db: Reader,
  { job_id }: Pick<ResourceGroup, 'job_id'>,
): Promise<number | null> => {
  if (job_id === null) return null;
  const holder = await db.selectFrom('jobs').select('status').where('id', '=', job_id).executeTakeFirst();
  return holder !== undefined && holding.includes(holder.status) ? job_id : null;
};

/** By age, what has not come so far is waited for, too. */
const coming: JobStatus[] = ['waiting_for_resource', 'created', 'scheduled'];
const ready: JobStatus[] = ['waiting_for_resource'];

const newestFirst = new Set<string>(['newest_first', 'newest_ready_first']);
const readyAlone = new Set<string>(['unordered', 'newest_ready_first']);

/** The jobs that are to get the resource of a group. */
export const upcomingJobs = (
  db: Reader,
  { project_id, key, process_mode }: Pick<ResourceGroup, 'project_id' | 'key' | 'process_mode'>,
) =>
  db
    .selectFrom('jobs')
    .where('project_id', '=', project_id)
    .where('status', 'in', readyAlone.has(process_mode) ? ready : coming)
    .where('resource_group', '=', key)
    .where('retried', '=', 0);

/** The same in the order in which they get it. */
export const byTurn = (
  query: ReturnType<typeof upcomingJobs>,
  { process_mode }: Pick<ResourceGroup, 'process_mode'>,
) =>
  query
    .orderBy('jobs.pipeline_id', newestFirst.has(process_mode) ? 'desc' : 'asc')
    .orderBy(({ eb }) => eb.case().when('status', '=', 'waiting_for_resource').then(0).else(1).end())
    .orderBy('jobs.id');
