import { type RawBuilder, sql } from 'kysely';
import { levels } from '../../core/access/levels.ts';
import { type Viewer, getNamespaceLevel, getSourcesAtLeast, today } from '../../core/access/viewer.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { Namespace } from './claim_path.ts';

/** Over `namespaces`: namespaces in which the viewer has a role, including the personal one. */
export const ownNamespaces = (viewer: Viewer, dialect: SqlDialect): RawBuilder<boolean> => {
  const exists = sql<boolean>`namespaces.deleted_at is null`;
  if (viewer.admin) return exists;
  const { namespaces } = getSourcesAtLeast(viewer, levels.guest);
  return sql<boolean>`(${exists} and ${dialect.oneOf('namespaces.id', namespaces)})`;
};

/** Over `namespaces`: namespaces that the viewer owns, without an administrator's rights. */
export const ownedNamespaces = (viewer: Viewer, dialect: SqlDialect): RawBuilder<boolean> =>
  dialect.oneOf('namespaces.id', getSourcesAtLeast(viewer, levels.owner).namespaces);

/**
 * Counts, in one statement, the members of each group including all groups below it. Only groups that the viewer owns
 * are counted.
 */
export const memberCounts = async (
  db: Reader,
  viewer: Viewer,
  namespaces: readonly Namespace[],
  now: number,
): Promise<Map<number, number>> => {
  const owned = namespaces.filter(
    ({ id, kind }) => kind === 'group' && getNamespaceLevel(viewer, id) >= levels.owner,
  );
  if (owned.length === 0) return new Map();
  const ids = sql.join(owned.map(({ id }) => id));
  const { rows } = await sql<{ top: number; users: number }>`
    with recursive tree (top, id) as (
      select id, id from namespaces where id in (${ids})
      union all
      select tree.top, namespaces.id from namespaces join tree on namespaces.parent_id = tree.id
      where namespaces.deleted_at is null
    )
    select tree.top, count(distinct members.user_id) as users from tree
    left join members on members.source_type = 'Namespace' and members.source_id = tree.id
      and (members.expires_at is null or members.expires_at > ${today(now)})
    group by tree.top
  `.execute(db);
  return new Map(rows.map(({ top, users }) => [top, users]));
};

/** Loads the full paths of namespaces by id. */
export const loadFullPaths = async (db: Reader, ids: readonly number[]): Promise<Map<number, string>> => {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('namespaces')
    .select(['id', 'full_path'])
    .where('id', 'in', [...new Set(ids)])
    .execute();
  return new Map(rows.map(({ id, full_path }) => [id, full_path]));
};

/** Loads the full paths of namespaces and of all groups above them, by id. */
export const loadPathsWithAncestors = async (
  db: Reader,
  ids: readonly number[],
): Promise<Map<number, string>> => {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: number; full_path: string }>`
    with recursive ancestors (id, parent_id, full_path) as (
      select id, parent_id, full_path from namespaces where id in (${sql.join([...new Set(ids)])})
      union
      select namespaces.id, namespaces.parent_id, namespaces.full_path
      from namespaces join ancestors on namespaces.id = ancestors.parent_id
    ) select id, full_path from ancestors`.execute(db);
  return new Map(rows.map(({ id, full_path }) => [id, full_path]));
};
