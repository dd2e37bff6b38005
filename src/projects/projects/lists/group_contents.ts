/** Counts what groups contain directly, as the caller sees it. */
import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { visibleProjects } from '../../../core/access/visible.ts';
import { visibleGroups } from '../../../identity/groups/visible.ts';

export type GroupContents = {
  subgroups: number;
  projects: number;
  /** Time of the last activity in any of the projects; null if there is none. */
  last_activity_at: number | null;
};

type Row = { id: number; count: number; last_activity_at: number | null };

/** Returns the contents of each of the groups, in two statements. */
export const countGroupContents = async (
  { db, viewer, platform }: Pick<Call, 'db' | 'viewer' | 'platform'>,
  ids: readonly number[],
): Promise<Map<number, GroupContents>> => {
  if (ids.length === 0) return new Map();
  const { dialect } = platform.store;
  const [subgroups, projects] = await Promise.all([
    sql<Row>`select parent_id as id, count(*) as count from namespaces
      where ${dialect.oneOf('namespaces.parent_id', ids)} and ${visibleGroups(viewer, dialect)}
      group by parent_id`.execute(db),
    sql<Row>`select namespace_id as id, count(*) as count, max(last_activity_at) as last_activity_at from projects
      where ${dialect.oneOf('projects.namespace_id', ids)} and projects.archived = 0 and ${visibleProjects(viewer, dialect)}
      group by namespace_id`.execute(db),
  ]);
  const contents = new Map<number, GroupContents>(
    ids.map((id) => [id, { subgroups: 0, projects: 0, last_activity_at: null }]),
  );
  for (const { id, count } of subgroups.rows) {
    const group = contents.get(id);
    if (group !== undefined) group.subgroups = count;
  }
  for (const { id, count, last_activity_at } of projects.rows) {
    const group = contents.get(id);
    if (group !== undefined) Object.assign(group, { projects: count, last_activity_at });
  }
  return contents;
};
