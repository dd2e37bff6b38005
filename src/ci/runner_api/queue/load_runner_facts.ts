/** Loads the facts of a runner that matter to the queue. */
import { sql } from 'kysely';
import type { Reader } from '../../../platform/db/open.ts';
import { type RunnerRow, parseTags } from '../../runners/rules.ts';
import type { Machine, RequestingRunner } from './match_runners.ts';

const listProjects = async (db: Reader, runner_id: number): Promise<number[]> => {
  const rows = await db
    .selectFrom('runner_projects')
    .select('project_id')
    .where('runner_id', '=', runner_id)
    .execute();
  return rows.map(({ project_id }) => project_id);
};

/** Lists the namespaces of the runner's groups and their descendants. */
const listNamespaces = async (db: Reader, runner_id: number): Promise<number[]> => {
  const { rows } = await sql<{ id: number }>`
    with recursive below (id) as (
      select namespace_id from runner_groups where runner_id = ${runner_id}
      union
      select namespaces.id from namespaces join below on namespaces.parent_id = below.id
    ) select id from below`.execute(db);
  return rows.map(({ id }) => id);
};

const loadReach = async (db: Reader, { id, runner_type }: RunnerRow): Promise<number[]> => {
  if (runner_type === 'instance_type') return [];
  return await (runner_type === 'group_type' ? listNamespaces : listProjects)(db, id);
};

/** A placeholder for a runner without a machine name. */
const anyMachine: Machine = { system_id: null, cancels_gracefully: 0 };

export const loadTaker = async (
  db: Reader,
  runner: RunnerRow,
  machine = anyMachine,
): Promise<RequestingRunner> => {
  const { id, runner_type, access_level, run_untagged, maximum_timeout, updated_at } = runner;
  const reach = new Set(await loadReach(db, runner));
  return {
    id,
    runner_type,
    access_level,
    run_untagged,
    maximum_timeout,
    updated_at,
    machine,
    reach,
    tags: new Set(parseTags(runner)),
  };
};
