import { sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import { selectDescendants } from './ancestors.ts';
import { endRedirects, keepOldPaths } from './redirects.ts';

/**
 * Moves a namespace and everything below it to another full path: columns `full_path` and rows of `routes`, in a few
 * statements. The caller updates `path` and `parent_id` of the namespace itself. Old paths redirect to the new paths. A
 * taken path (`isRouteTaken`) causes a unique violation.
 */
export const renameRoutes = async (
  tx: Tx,
  namespaceId: number,
  oldFullPath: string,
  newFullPath: string,
): Promise<void> => {
  if (oldFullPath === newFullPath) return;
  const isBelow = sql<boolean>`(source_type = 'Namespace' and source_id in ${selectDescendants(namespaceId)})
    or (source_type = 'Project' and source_id in
      (select id from projects where namespace_id in ${selectDescendants(namespaceId)}))`;
  await keepOldPaths(tx, isBelow);
  const tree = sql`with recursive tree (id) as (
    select id from namespaces where id = ${namespaceId}
    union all
    select namespaces.id from namespaces join tree on namespaces.parent_id = tree.id
  )`;
  const startOfRest = sql.lit(oldFullPath.length + 1);
  const moved = sql`${newFullPath} || substr(full_path, ${startOfRest})`;
  const movedRoute = sql`${newFullPath.toLowerCase()} || substr(path, ${startOfRest})`;
  const below = sql`select id from projects where namespace_id in (select id from tree)`;
  const statements = [
    sql`${tree} update namespaces set full_path = ${moved} where id in (select id from tree)`,
    sql`${tree} update projects set full_path = ${moved} where namespace_id in (select id from tree)`,
    sql`${tree} update routes set path = ${movedRoute}
      where source_type = 'Namespace' and source_id in (select id from tree)`,
    sql`${tree} update routes set path = ${movedRoute}
      where source_type = 'Project' and source_id in (${below})`,
  ];
  for (const statement of statements) {
    await statement.execute(tx.db);
  }
  await endRedirects(tx, newFullPath);
};

/** Changes the full path of a project, which must be free. The caller updates the row in `projects`. */
export const renameProjectRoute = async (tx: Tx, projectId: number, fullPath: string): Promise<void> => {
  await keepOldPaths(tx, sql<boolean>`source_type = 'Project' and source_id = ${projectId}`);
  await tx.db
    .updateTable('routes')
    .set({ path: fullPath.toLowerCase() })
    .where('source_type', '=', 'Project')
    .where('source_id', '=', projectId)
    .execute();
  await endRedirects(tx, fullPath);
};
