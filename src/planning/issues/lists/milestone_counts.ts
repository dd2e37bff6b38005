/** Counts the issues of milestones that the caller can see. */
import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { visibleIssues } from '../../../core/access/visible.ts';

type Requester = Pick<Call, 'db' | 'viewer' | 'platform'>;

export type IssueCounts = { opened: number; closed: number };

type Row = { milestone_id: number; state: 'opened' | 'closed'; count: number };

/** Counts the issues of each milestone by state, in one statement. Milestones without issues have no entry. */
export const countMilestoneIssues = async (
  { db, viewer, platform }: Requester,
  ids: readonly number[],
): Promise<Map<number, IssueCounts>> => {
  const counts = new Map<number, IssueCounts>();
  if (ids.length === 0) return counts;
  const { dialect } = platform.store;
  const { rows } = await sql<Row>`select milestone_id, issues.state, count(*) as count
    from issues join projects on projects.id = issues.project_id
    where ${dialect.oneOf('issues.milestone_id', ids)} and ${visibleIssues(viewer, dialect)}
    group by milestone_id, issues.state`.execute(db);
  for (const { milestone_id, state, count } of rows) {
    const one = counts.get(milestone_id) ?? { opened: 0, closed: 0 };
    counts.set(milestone_id, { ...one, [state]: count });
  }
  return counts;
};

export type IssueTimes = { created_at: number; closed_at: number | null };

const maxIssues = 2_000;

/** Loads when the issues of a milestone were created and closed; null: there are more than 2,000. */
export const loadIssueTimes = async (
  { db, viewer, platform }: Requester,
  milestoneId: number,
): Promise<IssueTimes[] | null> => {
  const { rows } = await sql<IssueTimes>`select issues.created_at,
      case when issues.state = 'closed' then issues.closed_at end as closed_at
    from issues join projects on projects.id = issues.project_id
    where issues.milestone_id = ${milestoneId} and ${visibleIssues(viewer, platform.store.dialect)}
    limit ${maxIssues + 1}`.execute(db);
  return rows.length > maxIssues ? null : rows;
};
