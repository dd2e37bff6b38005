/** How many merge requests there are that a viewer sees: from the counters of projects, kept with every change. */
import { sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { allOf, readableCode, visibleFeature } from '../access/visible.ts';
import type { TotalOf } from '../issuables/list.ts';

const columnsOf = (state: string) => {
  if (state === 'locked') return [];
  const states = state === 'all' ? (['opened', 'closed', 'merged'] as const) : [state];
  return states.map((one) => `${one as 'opened'}_merge_requests` as const);
};

/** Exact, after visibility. */
export const totalOfAll = async (call: Call, { project, place, state }: TotalOf): Promise<number> => {
  const columns = columnsOf(state);
  if (project !== null) return columns.reduce((sum, column) => sum + project[column], 0);
  if (columns.length === 0) return 0;
  const { words } = call.platform.store;
  const counted = sql.join(
    columns.map((column) => sql.ref(`project_counters.${column}`)),
    sql` + `,
  );
  const visible = [
    ...place,
    readableCode(call.viewer, words),
    visibleFeature(call.viewer, 'merge_requests_access_level', words),
  ];
  const { rows } = await sql<{ total: number | null }>`
    select sum(${counted}) as total
    from projects join project_counters on project_counters.project_id = projects.id
    where ${allOf(visible)}`.execute(call.db);
  return rows[0]?.total ?? 0;
};
