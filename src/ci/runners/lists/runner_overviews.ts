/** Data that a list of runners shows in addition to their records. */
import { sql } from 'kysely';
import type { Reader } from '../../../platform/db/open.ts';
import { heldStatuses } from '../../../core/job_statuses.ts';

export type Overview = {
  /** Version of the machine with the latest contact; null before any contact. */
  version: string | null;
  executor: string | null;
  /** Number of running jobs. */
  jobs: number;
  /** True for a service's built-in runner. */
  isBuiltIn: boolean;
};

const ofLastMachine = (column: 'version' | 'executor') => sql<
  string | null
>`(select ${sql.ref(column)} from runner_managers
  where runner_managers.runner_id = runners.id order by contacted_at desc, system_id limit 1)`;

/** Matches the rows that `create_built_in_runner.ts` writes. */
const isBuiltIn = sql<boolean>`runners.id in (select cast(value as bigint) from instance
  where name like 'built\\_in\\_runner\\_id %' escape '\\')`;

/** Counts from the few running jobs, not from all jobs of the runners. */
const countRunningJobs = async (db: Reader, ids: readonly number[]): Promise<Map<number, number>> => {
  const rows = await db
    .selectFrom('jobs')
    .select(({ fn }) => ['runner_id', fn.countAll<number>().as('count')])
    .where('status', 'in', heldStatuses)
    .where(sql<number>`runner_id + 0`, 'in', ids)
    .groupBy('runner_id')
    .execute();
  return new Map(rows.map(({ runner_id, count }) => [runner_id ?? 0, count]));
};

/** Loads the overviews of one page of runners, by id. */
export const loadRunnerOverviews = async (
  db: Reader,
  ids: readonly number[],
): Promise<Map<number, Overview>> => {
  if (ids.length === 0) return new Map();
  const [rows, jobs] = await Promise.all([
    db
      .selectFrom('runners')
      .select([
        'id',
        ofLastMachine('version').as('version'),
        ofLastMachine('executor').as('executor'),
        sql<0 | 1>`case when ${isBuiltIn} then 1 else 0 end`.as('built_in'),
      ])
      .where('id', 'in', ids)
      .execute(),
    countRunningJobs(db, ids),
  ]);
  return new Map(
    rows.map(({ id, built_in, ...row }) => [
      id,
      { ...row, jobs: jobs.get(id) ?? 0, isBuiltIn: built_in === 1 },
    ]),
  );
};

/** Lists built-in runners that run jobs as plain processes, without a sandbox. */
export const listUnsandboxedRunners = async (db: Reader): Promise<number[]> => {
  const rows = await db
    .selectFrom('runners')
    .select('id')
    .where(isBuiltIn)
    .where(sql<boolean>`${ofLastMachine('executor')} like 'shell%'`)
    .orderBy('id')
    .limit(100)
    .execute();
  return rows.map(({ id }) => id);
};
