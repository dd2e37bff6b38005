import { type RawBuilder, sql } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import type { Visibility } from '../db/schema.ts';
import { formatTime } from '../time.ts';
import { levels } from './levels.ts';

/**
 * What a job sees: its own project, and each that was found to let it in (`projects/job_reach.ts`), with its role there.
 * Nothing else is there for it.
 */
type JobReach = {
  project_id: number;
  levels: Map<number, number>;
  /** The user that it runs for, with all his roles. */
  user: Viewer;
};

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
  /** What asks is a job. */
  job?: JobReach;
};

export const anonymous: Viewer = {
  user_id: null,
  admin: false,
  external: false,
  projectLevels: new Map(),
  namespaceLevels: new Map(),
};

/** `YYYY-MM-DD` in UTC: memberships and tokens end at 00:00 of their day. */
export const today = (now: number): string => formatTime(now).slice(0, 10);

/**
 * SQL: every role of a user as one text, so that a query of him can bring them along: `N12:30,P7:40` for 30 in the
 * namespace 12 and all below it, and 40 in the project 7.
 * @param day memberships that end on it, or before, do not count
 */
export const rolesText = (userId: RawBuilder<unknown>, day: string): RawBuilder<string | null> => sql<
  string | null
>`(
  with recursive tree (id, level) as (
    select source_id, access_level from members
    where user_id = ${userId} and source_type = 'Namespace' and (expires_at is null or expires_at > ${day})
    union
    select namespaces.id, tree.level from namespaces join tree on namespaces.parent_id = tree.id
  )
  select string_agg(source || id || ':' || level, ',') from (
    select 'N' as source, id, level from tree
    union all
    select 'N', id, ${sql.lit(levels.owner)} from namespaces where owner_id = ${userId} and kind = 'user'
    union all
    select 'P', source_id, access_level from members
    where user_id = ${userId} and source_type = 'Project' and (expires_at is null or expires_at > ${day})
  ) as roles)`;

type ViewingUser = { id: number; admin: number; external: number };

/** @param roles as `rolesText` tells them */
export const viewerOf = (user: ViewingUser, roles: string | null): Viewer => {
  const projectLevels = new Map<number, number>();
  const namespaceLevels = new Map<number, number>();
  for (const role of roles?.split(',') ?? []) {
    const map = role.startsWith('P') ? projectLevels : namespaceLevels;
    const [id = 0, level = 0] = role.slice(1).split(':').map(Number);
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

const rolesOfUser = compiled((db, { user_id, day }: { user_id: number; day: string }) =>
  sql<{ roles: string | null }>`select ${rolesText(sql`${user_id}`, day)} as roles`.compile(db),
);

export const loadViewer = async (db: Reader, user: ViewingUser, now: number): Promise<Viewer> => {
  const [row] = await rolesOfUser(db, { user_id: user.id, day: today(now) });
  return viewerOf(user, row?.roles ?? null);
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
