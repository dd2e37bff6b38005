import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { allOf } from '../../../core/access/visible.ts';
import type { Page } from '../../../platform/http/page.ts';
import type { Project } from '../find.ts';
import { projectConditions } from './list_filters.ts';

/** Lists the projects in which the caller is a member, most recent activity first. */
export const listRecentProjects = async (call: Call, limit: number): Promise<Page<Project>> => {
  const where = allOf(projectConditions(call, { membership: true, archived: false }));
  const items = await call.db
    .selectFrom('projects')
    .innerJoin('project_counters', 'project_counters.project_id', 'projects.id')
    .selectAll()
    .where(where)
    .orderBy('projects.last_activity_at', 'desc')
    .orderBy('projects.id', 'desc')
    .limit(limit)
    .execute();
  // A list that is not full holds all there is.
  if (items.length < limit) return { items, total: items.length };
  const { rows } = await sql<{
    total: number;
  }>`select count(*) as total from projects where ${where}`.execute(call.db);
  return { items, total: rows[0]?.total ?? items.length };
};
