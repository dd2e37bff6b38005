/** Lists, counts and cancels jobs of all projects, for administrators. */
import { type RawBuilder, sql } from 'kysely';
import { requireActor, type Call } from '../../core/access/call.ts';
import { recordAudit } from '../../core/access/audit.ts';
import type { Reader } from '../../platform/db/open.ts';
import { cancelJob } from '../pipelines/processing/job_transitions.ts';
import { type JobRow, jobColumns } from './rows.ts';

export const instanceScopes = ['pending', 'running', 'all'] as const;

export type InstanceScope = (typeof instanceScopes)[number];

/** Each scope reads an index, so that the number of ended jobs does not matter. */
const idsIn: Record<InstanceScope, RawBuilder<{ id: number }>> = {
  pending: sql`select job_id as id from pending_jobs`,
  running: sql`select id from jobs where status in ('running', 'canceling')`,
  all: sql`select id from jobs`,
};

export type JobCounts = { pending: number; running: number };

export const countInstanceJobs = async (db: Reader): Promise<JobCounts> => {
  const { rows } = await sql<JobCounts>`select
    (select count(*) from pending_jobs) as pending,
    (select count(*) from jobs where status in ('running', 'canceling')) as running`.execute(db);
  const [counts] = rows;
  if (counts === undefined) throw new Error('a count has one row');
  return counts;
};

/** Lists jobs, newest first. */
export const listInstanceJobs = async (
  db: Reader,
  scope: InstanceScope,
  { limit, offset }: { limit: number; offset: number },
): Promise<JobRow[]> => {
  const { rows } = await sql<{
    id: number;
  }>`${idsIn[scope]} order by 1 desc limit ${limit} offset ${offset}`.execute(db);
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  return await db
    .selectFrom('jobs')
    .select(jobColumns)
    .where('id', 'in', ids)
    .orderBy('id', 'desc')
    .execute();
};

/** Most jobs of each kind that one call cancels. */
const maxCanceled = 500;

/**
 * Cancels the waiting and running jobs of all projects, within the limit.
 * @returns the number of canceled jobs
 */
export const cancelInstanceJobs = async (call: Call): Promise<number> => {
  const page = { limit: maxCanceled, offset: 0 };
  const [running, pending] = [
    await listInstanceJobs(call.db, 'running', page),
    await listInstanceJobs(call.db, 'pending', page),
  ];
  let count = 0;
  // Pending jobs first, so that they cannot take a slot that becomes free.
  for (const { id } of [...pending, ...running]) {
    if ((await call.write(async (tx) => await cancelJob(tx, id))) !== null) count += 1;
  }
  const entry = { kind: 'jobs.canceled', details: { count } };
  await call.write(async (tx) => await recordAudit(tx, requireActor(call), call, entry));
  return count;
};
