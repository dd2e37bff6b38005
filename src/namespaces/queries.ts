import { type RawBuilder, sql } from 'kysely';
import { levels } from '../access/levels.ts';
import { type Viewer, namespaceLevel, sourcesAtLeast, today } from '../access/viewer.ts';
import type { Words } from '../db/engine.ts';
import type { Reader } from '../db/open.ts';
import type { Namespace } from './claim.ts';

/** Over `namespaces`: those in which the viewer has a role, his own among them. */
export const ownNamespaces = (viewer: Viewer, words: Words): RawBuilder<boolean> => {
  const exists = sql<boolean>`namespaces.deleted_at is null`;
  if (viewer.admin) return exists;
  const { namespaces } = sourcesAtLeast(viewer, levels.guest);
  return sql<boolean>`(${exists} and ${words.oneOf('namespaces.id', namespaces)})`;
};

/** Over `namespaces`: those that the viewer owns, whatever else is open to an administrator. */
export const ownedNamespaces = (viewer: Viewer, words: Words): RawBuilder<boolean> =>
  words.oneOf('namespaces.id', sourcesAtLeast(viewer, levels.owner).namespaces);

/**
 * How many users are members of each of these groups or of a group below it; of those groups only that the
 * viewer owns. One statement.
 */
export const memberCounts = async (
  db: Reader,
  viewer: Viewer,
  namespaces: readonly Namespace[],
  now: number,
): Promise<Map<number, number>> => {
  const owned = namespaces.filter(
    ({ id, kind }) => kind === 'group' && namespaceLevel(viewer, id) >= levels.owner,
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
