import { sql } from 'kysely';
import { compiled } from '../../platform/db/compiled_query.ts';
import { keepUntilChange } from '../../platform/db/keep_until_change.ts';
import type { Reader } from '../../platform/db/open.ts';
import { levels } from './levels.ts';
import { type Viewer, today } from './viewer.ts';

type Row = { id: number; admin: number; external: number; level: number | null };

type Query = { ids: readonly number[]; project_id: number; namespace_id: number; day: string };

const selectViewerRows = compiled((db, { ids, project_id, namespace_id, day }: Query, dialect) => {
  const current = sql`(expires_at is null or expires_at > ${day})`;
  const theirs = sql`${dialect.oneOf('user_id', ids)} and ${current}`;
  return sql<Row>`
    with recursive ancestors (id, parent_id) as (
      select id, parent_id from namespaces where id = ${namespace_id}
      union
      select namespaces.id, namespaces.parent_id from namespaces join ancestors on namespaces.id = ancestors.parent_id
    ), reach (id, access) as (
      select group_id, group_access from group_links
      where ${current} and (source_type = 'Project' and source_id = ${project_id}
        or source_type = 'Namespace' and source_id in (select id from ancestors))
      union
      select namespaces.parent_id, reach.access from namespaces join reach on namespaces.id = reach.id
      where namespaces.parent_id is not null
    ), roles (user_id, level) as (
      select user_id, access_level from members
      where ${theirs} and source_type = 'Project' and source_id = ${project_id}
      union all
      select user_id, access_level from members
      where ${theirs} and source_type = 'Namespace' and source_id in (select id from ancestors)
      union all
      select user_id, case when reach.access < access_level then reach.access else access_level end
      from members join reach on source_type = 'Namespace' and source_id = reach.id
      where ${theirs}
      union all
      select owner_id, ${sql.lit(levels.owner)} from namespaces where id = ${namespace_id} and kind = 'user'
    )
    select users.id, users.admin, users.external,
      (select max(level) from roles where roles.user_id = users.id) as level
    from users where ${dialect.oneOf('users.id', ids)} and users.state = 'active'
  `.compile(db);
});

/** Sets of users whose roles in a project are kept, and the most users of one. */
const maxSets = 1_000;
const maxUsers = 20;

const keepRows = keepUntilChange<Row[]>(['users', 'members', 'namespaces', 'group_links'], maxSets);

const loadRows = async (db: Reader, query: Query): Promise<Row[]> => {
  const { ids, project_id, namespace_id, day } = query;
  if (ids.length === 0) return [];
  const load = async () => await selectViewerRows(db, query);
  if (ids.length > maxUsers) return await load();
  return await keepRows(db, `${project_id} ${namespace_id} ${day} ${ids.join()}`, load);
};

/**
 * Loads users as viewers of one project, in one statement. Used to decide who may be shown something, such as an
 * assignee or a mentioned user. Omits users that do not exist or are blocked.
 */
export const loadProjectViewers = async (
  db: Reader,
  { id: project_id, namespace_id }: { id: number; namespace_id: number },
  userIds: readonly number[],
  now: number,
): Promise<Map<number, Viewer>> => {
  const rows = await loadRows(db, { ids: [...new Set(userIds)], project_id, namespace_id, day: today(now) });
  return new Map(rows.map((row) => [row.id, toViewer(row, project_id)]));
};

const toViewer = ({ id, admin, external, level }: Row, projectId: number): Viewer => ({
  user_id: id,
  admin: admin === 1,
  external: external === 1,
  projectLevels: new Map(level === null ? [] : [[projectId, level]]),
  namespaceLevels: new Map(),
});
