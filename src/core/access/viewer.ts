import { type RawBuilder, sql } from 'kysely';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { Visibility } from '../../platform/db/schema/column_types.ts';
import { dayMilliseconds, formatTime } from '../../platform/time.ts';
import { levels } from './levels.ts';

/**
 * Visibility of a job: its own project, and each project that admits it (`projects/projects/job_token_access.ts`), with
 * its role there.
 */
type JobScope = {
  project_id: number;
  levels: Map<number, number>;
  /** The user who started the job, with all their roles. */
  user: Viewer;
};

/** The viewer: the user who reads, with every role they have. Enough to decide on any project without another query. */
export type Viewer = {
  /** null if nobody is signed in. */
  user_id: number | null;
  admin: boolean;
  /** External users see internal projects only as members. */
  external: boolean;
  /** Role by project id, from direct memberships. */
  projectLevels: ReadonlyMap<number, number>;
  /** Role by namespace id: groups with all their subgroups, and the user's personal namespace (owner). */
  namespaceLevels: ReadonlyMap<number, number>;
  /** Set if the viewer is a job. */
  job?: JobScope;
};

export const anonymous: Viewer = {
  user_id: null,
  admin: false,
  external: false,
  projectLevels: new Map(),
  namespaceLevels: new Map(),
};

/** The day that was formatted last: each request asks for the current one several times. */
let lastDay = { start: NaN, text: '' };

/** Formats the UTC day as `YYYY-MM-DD`. Memberships and tokens expire at 00:00 of their day. */
export const today = (now: number): string => {
  const start = now - (((now % dayMilliseconds) + dayMilliseconds) % dayMilliseconds);
  if (start !== lastDay.start) lastDay = { start, text: formatTime(now).slice(0, 10) };
  return lastDay.text;
};

/** Over `group_links` joined with the roles of a user: the role that the link gives. */
const lesser = sql`case when group_access < level then group_access else level end`;

/**
 * SQL: all roles of a user as one text, so that a query of users can include them. `N12:30,P7:40` is 30 in namespace
 * 12 and its descendants, and 40 in project 7. A role in a group counts in what is shared with the group, too.
 * @param day memberships that end on this day, or before, do not count
 */
export const rolesText = (userId: RawBuilder<unknown>, day: string): RawBuilder<string | null> => sql<
  string | null
>`(
  with recursive tree (id, level) as (
    select source_id, access_level from members
    where user_id = ${userId} and source_type = 'Namespace' and (expires_at is null or expires_at > ${day})
    union
    select namespaces.id, tree.level from namespaces join tree on namespaces.parent_id = tree.id
  ), shared (id, level) as (
    select source_id, ${lesser} from tree join group_links on group_id = tree.id
    where source_type = 'Namespace' and (expires_at is null or expires_at > ${day})
    union
    select namespaces.id, shared.level from namespaces join shared on namespaces.parent_id = shared.id
  )
  select string_agg(source || id || ':' || level, ',') from (
    select 'N' as source, id, level from tree
    union all
    select 'N', id, level from shared
    union all
    select 'P', source_id, ${lesser} from tree join group_links on group_id = tree.id
    where source_type = 'Project' and (expires_at is null or expires_at > ${day})
    union all
    select 'N', id, ${sql.lit(levels.owner)} from namespaces where owner_id = ${userId} and kind = 'user'
    union all
    select 'P', source_id, access_level from members
    where user_id = ${userId} and source_type = 'Project' and (expires_at is null or expires_at > ${day})
  ) as roles)`;

type ViewingUser = { id: number; admin: number; external: number };

/**
 * Builds a viewer from a user row.
 * @param roles text that `rolesText` selected
 */
export const toViewer = (user: ViewingUser, roles: string | null): Viewer => {
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

const selectUserRoles = compiled((db, { user_id, day }: { user_id: number; day: string }) =>
  sql<{ roles: string | null }>`select ${rolesText(sql`${user_id}`, day)} as roles`.compile(db),
);

export const loadViewer = async (db: Reader, user: ViewingUser, now: number): Promise<Viewer> => {
  const [row] = await selectUserRoles(db, { user_id: user.id, day: today(now) });
  return toViewer(user, row?.roles ?? null);
};

/** Columns of a project that permission checks need. */
export type ProjectFacts = {
  id: number;
  namespace_id: number;
  visibility: Visibility;
  deleted_at: number | null;
};

/** Returns the viewer's role as a member of a project or of a group above it; 0 if none. */
export const getMemberLevel = (viewer: Viewer, project: { id: number; namespace_id: number }): number => {
  const direct = viewer.projectLevels.get(project.id) ?? 0;
  return Math.max(direct, viewer.namespaceLevels.get(project.namespace_id) ?? 0);
};

/** Returns the viewer's role in a project; 0 if none. Administrators count as owners everywhere. */
export const getProjectLevel = (viewer: Viewer, project: { id: number; namespace_id: number }): number => {
  return viewer.admin ? levels.owner : getMemberLevel(viewer, project);
};

export const getNamespaceLevel = (viewer: Viewer, namespaceId: number): number =>
  viewer.admin ? levels.owner : (viewer.namespaceLevels.get(namespaceId) ?? 0);

/** Returns ids of namespaces and projects in which the viewer has at least `level`. */
export const getSourcesAtLeast = (
  viewer: Viewer,
  level: number,
): { projects: number[]; namespaces: number[] } => {
  const toIds = (map: ReadonlyMap<number, number>): number[] =>
    [...map].filter(([, has]) => has >= level).map(([id]) => id);
  return { projects: toIds(viewer.projectLevels), namespaces: toIds(viewer.namespaceLevels) };
};
