/** Counts visible merge requests from the counters of projects, which every change updates. */
import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { allOf, readableCode, visibleFeature } from '../../../core/access/visible.ts';
import type { TotalQuery } from '../../../planning/issuables/lists/list_kind.ts';

const getCounterColumns = (state: string) => {
  if (state === 'locked') return [];
  const states = state === 'all' ? (['opened', 'closed', 'merged'] as const) : [state];
  return states.map((one) => `${one as 'opened'}_merge_requests` as const);
};

/** Returns the exact number of merge requests visible to the caller. */
export const totalOfAll = async (call: Call, { project, place, state }: TotalQuery): Promise<number> => {
  const columns = getCounterColumns(state);
  if (project !== null) return columns.reduce((sum, column) => sum + project[column], 0);
  if (columns.length === 0) return 0;
  const { dialect } = call.platform.store;
  const counted = sql.join(
    columns.map((column) => sql.ref(`project_counters.${column}`)),
    sql` + `,
  );
  const visible = [
    ...place,
    readableCode(call.viewer, dialect),
    visibleFeature(call.viewer, 'merge_requests_access_level', dialect),
  ];
  const { rows } = await sql<{ total: number | null }>`
    select sum(${counted}) as total
    from projects join project_counters on project_counters.project_id = projects.id
    where ${allOf(visible)}`.execute(call.db);
  return rows[0]?.total ?? 0;
};
