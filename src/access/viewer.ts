import { sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import type { Visibility } from '../db/schema.ts';
import { formatTime } from '../time.ts';
import { levels } from './levels.ts';

/** Who looks, with every role that he has: enough to decide on any project without another look-up. */
export type Viewer = {
  /** null: nobody signed in. */
  user_id: number | null;
  admin: boolean;
  /** An external user sees internal projects only as a member. */
  external: boolean;
  /** Role by project id, of direct members. */
  projectLevels: ReadonlyMap<number, number>;
  /** Role by namespace id: groups with all below them, and the own personal namespace (owner). */
  namespaceLevels: ReadonlyMap<number, number>;
};

export const anonymous: Viewer = {
  user_id: null,
  admin: false,
  external: false,
  projectLevels: new Map(),
  namespaceLevels: new Map(),
};

type LevelRow = { source: 'Namespace' | 'Project'; id: number; level: number };

/** `YYYY-MM-DD` in UTC: memberships and tokens end at 00:00 of their day. */
export const today = (now: number): string => formatTime(now).slice(0, 10);

const levelRows = async (db: Reader, userId: number, now: number): Promise<LevelRow[]> => {
  const day = today(now);
  const { rows } = await sql<LevelRow>`
    with recursive tree (id, level) as (
      select source_id, access_level from members
      where user_id = ${userId} and source_type = 'Namespace' and (expires_at is null or expires_at > ${day})
      union
      select namespaces.id, tree.level from namespaces join tree on namespaces.parent_id = tree.id
    )
    select 'Namespace' as source, id, level from tree
    union all
    select 'Namespace', id, ${sql.lit(levels.owner)} from namespaces where owner_id = ${userId} and kind = 'user'
    union all
    select 'Project', source_id, access_level from members
    where user_id = ${userId} and source_type = 'Project' and (expires_at is null or expires_at > ${day})
  `.execute(db);
  return rows;
};

export const loadViewer = async (
  db: Reader,
  user: { id: number; admin: number; external: number },
  now: number,
): Promise<Viewer> => {
  const projectLevels = new Map<number, number>();
  const namespaceLevels = new Map<number, number>();
  for (const { source, id, level } of await levelRows(db, user.id, now)) {
    const map = source === 'Project' ? projectLevels : namespaceLevels;
    map.set(id, Math.max(level, map.get(id) ?? 0));
  }
  return {
    user_id: user.id,
    admin: user.admin === 1,
    external: user.external === 1,
    projectLevels,
    namespaceLevels,
  };
};

/** What a decision about a project needs to know of it. */
export type ProjectFacts = {
  id: number;
  namespace_id: number;
  visibility: Visibility;
  deleted_at: number | null;
};

/** The viewer's role in a project: 0 for none; an administrator acts as owner everywhere. */
export const projectLevel = (viewer: Viewer, project: { id: number; namespace_id: number }): number => {
  if (viewer.admin) return levels.owner;
  const direct = viewer.projectLevels.get(project.id) ?? 0;
  return Math.max(direct, viewer.namespaceLevels.get(project.namespace_id) ?? 0);
};

export const namespaceLevel = (viewer: Viewer, namespaceId: number): number =>
  viewer.admin ? levels.owner : (viewer.namespaceLevels.get(namespaceId) ?? 0);

/** Sources in which the viewer has at least `level`. */
export const sourcesAtLeast = (
  viewer: Viewer,
  level: number,
): { projects: number[]; namespaces: number[] } => {
  const idsOf = (map: ReadonlyMap<number, number>): number[] =>
    [...map].filter(([, has]) => has >= level).map(([id]) => id);
  return { projects: idsOf(viewer.projectLevels), namespaces: idsOf(viewer.namespaceLevels) };
};
