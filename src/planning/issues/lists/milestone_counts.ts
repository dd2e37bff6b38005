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
    const milestoneCounts = counts.get(milestone_id) ?? { opened: 0, closed: 0 };
    counts.set(milestone_id, { ...milestoneCounts, [state]: count });
  }
  return counts;
};
