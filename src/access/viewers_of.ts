import { sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import { levels } from './levels.ts';
import { type Viewer, today } from './viewer.ts';

type Row = { id: number; admin: number; external: number; level: number | null };

/**
 * The given users as viewers of one project, in one statement: for deciding whom something may be shown to
 * (an assignee, one who is mentioned). Users that do not exist or are blocked are left out.
 */
export const viewersOfProject = async (
  db: Reader,
  project: { id: number; namespace_id: number },
  userIds: readonly number[],
  now: number,
): Promise<Map<number, Viewer>> => {
  if (userIds.length === 0) return new Map();
  const ids = sql.join([...new Set(userIds)]);
  const day = today(now);
  const { rows } = await sql<Row>`
    with recursive ancestors (id, parent_id) as (
      select id, parent_id from namespaces where id = ${project.namespace_id}
      union
      select namespaces.id, namespaces.parent_id from namespaces join ancestors on namespaces.id = ancestors.parent_id
    ), roles (user_id, level) as (
      select user_id, access_level from members
      where user_id in (${ids}) and (expires_at is null or expires_at > ${day})
        and source_type = 'Project' and source_id = ${project.id}
      union all
      select user_id, access_level from members
      where user_id in (${ids}) and (expires_at is null or expires_at > ${day})
        and source_type = 'Namespace' and source_id in (select id from ancestors)
      union all
      select owner_id, ${sql.lit(levels.owner)} from namespaces where id = ${project.namespace_id} and kind = 'user'
    )
    select users.id, users.admin, users.external,
      (select max(level) from roles where roles.user_id = users.id) as level
    from users where users.id in (${ids}) and users.state = 'active'
  `.execute(db);
  return new Map(rows.map((row) => [row.id, viewerOf(row, project.id)]));
};

const viewerOf = ({ id, admin, external, level }: Row, projectId: number): Viewer => ({
  user_id: id,
  admin: admin === 1,
  external: external === 1,
  projectLevels: new Map(level === null ? [] : [[projectId, level]]),
  namespaceLevels: new Map(),
});
