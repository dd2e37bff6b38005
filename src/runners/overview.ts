/** What a list of runners tells beside their records. */
import { sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import { heldStatuses } from '../job_statuses.ts';

export type Overview = {
  /** Of the machine that was heard last; null: none was. */
  version: string | null;
  executor: string | null;
  /** Jobs that run now. */
  jobs: number;
  /** It is the one that comes with a service. */
  isBuiltIn: boolean;
};

const ofLastMachine = (column: 'version' | 'executor') => sql<
  string | null
>`(select ${sql.ref(column)} from runner_managers
  where runner_managers.runner_id = runners.id order by contacted_at desc, system_id limit 1)`;

/** The rows that `built_in.ts` writes. */
const isBuiltIn = sql<boolean>`runners.id in (select cast(value as bigint) from instance
  where name like 'built\\_in\\_runner\\_id %' escape '\\')`;

/** By the few that run now, not by the many that each runner has run. */
const runningJobs = async (db: Reader, ids: readonly number[]): Promise<Map<number, number>> => {
  const rows = await db
    .selectFrom('jobs')
    .select(({ fn }) => ['runner_id', fn.countAll<number>().as('count')])
    .where('status', 'in', heldStatuses)
    .where(sql<number>`runner_id + 0`, 'in', ids)
    .groupBy('runner_id')
    .execute();
  return new Map(rows.map(({ runner_id, count }) => [runner_id ?? 0, count]));
};

/** By the ids of the runners of one page. */
export const runnerOverviews = async (db: Reader, ids: readonly number[]): Promise<Map<number, Overview>> => {
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
    runningJobs(db, ids),
  ]);
  return new Map(
    rows.map(({ id, built_in, ...row }) => [
      id,
      { ...row, jobs: jobs.get(id) ?? 0, isBuiltIn: built_in === 1 },
    ]),
  );
};

/** Runners that come with services and run jobs as plain processes of their machines. */
export const unsandboxedRunners = async (db: Reader): Promise<number[]> => {
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
