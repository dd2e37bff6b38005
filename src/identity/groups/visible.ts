/**
 * Conditions for the groups that a viewer sees: public groups; internal groups for users who are not external; and
 * groups in which the viewer is a member directly, through a parent group, or through a group or project below. Lookups
 * and lists share them.
 */
import { type RawBuilder, sql } from 'kysely';
import { type Viewer, getSourcesAtLeast } from '../../core/access/viewer.ts';
import { allOf, anyOf, isOpenTo } from '../../core/access/visible.ts';
import { levels } from '../../core/access/levels.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';

type Condition = RawBuilder<boolean>;

const never: Condition = sql<boolean>`1 = 0`;

/** Over `namespaces`: groups that exist. */
const existing: Condition = sql<boolean>`namespaces.kind = 'group' and namespaces.deleted_at is null`;

/** Returns the groups that the viewer sees through memberships, with the groups above each membership. */
const throughMembership = (viewer: Viewer, dialect: SqlDialect): Condition => {
  const { projects, namespaces } = getSourcesAtLeast(viewer, levels.guest);
  if (projects.length === 0 && namespaces.length === 0) return never;
  return sql<boolean>`namespaces.id in (
    with recursive joined (id, parent_id) as (
      select namespaces.id, namespaces.parent_id from namespaces where ${dialect.oneOf('namespaces.id', namespaces)}
      union
      select namespaces.id, namespaces.parent_id from namespaces
      join projects on projects.namespace_id = namespaces.id
      where projects.deleted_at is null and ${dialect.oneOf('projects.id', projects)}
      union
      select namespaces.id, namespaces.parent_id from namespaces join joined on namespaces.id = joined.parent_id
    ) select id from joined)`;
};

/** Over `namespaces`: groups that the viewer sees only through memberships. */
export const memberGroups = (viewer: Viewer, dialect: SqlDialect): Condition =>
  allOf([existing, throughMembership(viewer, dialect)]);

/**
 * Over `namespaces`: groups in which the viewer has at least a role; for administrators, only their memberships
 * count.
 */
export const groupsAtLeast = (viewer: Viewer, level: number, dialect: SqlDialect): Condition => {
  const { namespaces } = getSourcesAtLeast(viewer, level);
  return allOf([existing, dialect.oneOf('namespaces.id', namespaces)]);
};

/**
 * Over `namespaces`: groups in which a user is a direct member.
 * @param day memberships that end on or before it do not count
 */
export const groupsWithMember = (userId: number, day: string): Condition =>
  sql<boolean>`exists (select 1 from members where members.source_type = 'Namespace'
    and members.source_id = namespaces.id and members.user_id = ${userId}
    and (members.expires_at is null or members.expires_at > ${day}))`;

/** Over `namespaces`: all groups that the viewer sees. */
export const visibleGroups = (viewer: Viewer, dialect: SqlDialect): Condition => {
  if (viewer.admin) return existing;
  const open = (['public', 'internal'] as const).filter((visibility) => isOpenTo(viewer, visibility));
  const isOpen = sql<boolean>`namespaces.visibility in (${sql.join(open)})`;
  return allOf([existing, anyOf([isOpen, throughMembership(viewer, dialect)])]);
};
