import { sql } from 'kysely';
import { today } from '../../core/access/viewer.ts';
import type { Reader } from '../../platform/db/open.ts';

/** Projects directly in a group, and its direct members. */
export type GroupSize = { projects: number; members: number };

/** Counts projects and members of these groups, in one statement. */
export const loadGroupSizes = async (
  db: Reader,
  groupIds: readonly number[],
  now: number,
): Promise<Map<number, GroupSize>> => {
  if (groupIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('namespaces')
    .select([
      'namespaces.id',
      sql<number>`(select count(*) from projects
        where projects.namespace_id = namespaces.id and projects.deleted_at is null)`.as('projects'),
      sql<number>`(select count(*) from members where members.source_type = 'Namespace'
        and members.source_id = namespaces.id
        and (members.expires_at is null or members.expires_at > ${today(now)}))`.as('members'),
    ])
    .where('namespaces.id', 'in', groupIds)
    .execute();
  return new Map(rows.map(({ id, projects, members }) => [id, { projects, members }]));
};
