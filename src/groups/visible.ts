/**
 * Who sees a group: everybody where it is public, users who are not external where it is internal, and the
 * members of the group, of one above it, of one below it, or of any project below it. Finding one and listing
 * many both ask here.
 */
import { type RawBuilder, sql } from 'kysely';
import { type Viewer, sourcesAtLeast } from '../access/viewer.ts';
import { allOf, anyOf, isOpenTo } from '../access/visible.ts';
import { levels } from '../access/levels.ts';
import type { Words } from '../db/engine.ts';

type Condition = RawBuilder<boolean>;

const never: Condition = sql<boolean>`1 = 0`;

/** Over a query that has the table `namespaces`: groups that exist. */
const existing: Condition = sql<boolean>`namespaces.kind = 'group' and namespaces.deleted_at is null`;

/** The groups that the viewer sees through a membership of his own, upwards from where he is a member. */
const throughMembership = (viewer: Viewer, words: Words): Condition => {
  const { projects, namespaces } = sourcesAtLeast(viewer, levels.guest);
  if (projects.length === 0 && namespaces.length === 0) return never;
  return sql<boolean>`namespaces.id in (
    with recursive joined (id, parent_id) as (
      select namespaces.id, namespaces.parent_id from namespaces where ${words.oneOf('namespaces.id', namespaces)}
      union
      select namespaces.id, namespaces.parent_id from namespaces
      join projects on projects.namespace_id = namespaces.id
      where projects.deleted_at is null and ${words.oneOf('projects.id', projects)}
      union
      select namespaces.id, namespaces.parent_id from namespaces join joined on namespaces.id = joined.parent_id
    ) select id from joined)`;
};

/** Over `namespaces`: groups that the viewer sees because he is a member, whatever else is open to him. */
export const memberGroups = (viewer: Viewer, words: Words): Condition =>
  allOf([existing, throughMembership(viewer, words)]);

/** Over `namespaces`: groups in which the viewer himself has at least a role (an administrator's own ones). */
export const groupsAtLeast = (viewer: Viewer, level: number, words: Words): Condition => {
  const { namespaces } = sourcesAtLeast(viewer, level);
  return allOf([existing, words.oneOf('namespaces.id', namespaces)]);
};

/** Over `namespaces`: every group that the viewer sees. */
export const visibleGroups = (viewer: Viewer, words: Words): Condition => {
  if (viewer.admin) return existing;
  const open = (['public', 'internal'] as const).filter((visibility) => isOpenTo(viewer, visibility));
  const isOpen = sql<boolean>`namespaces.visibility in (${sql.join(open)})`;
  return allOf([existing, anyOf([isOpen, throughMembership(viewer, words)])]);
};
