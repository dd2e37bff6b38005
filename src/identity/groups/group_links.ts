/** Groups that a project or group is shared with, if the caller sees them. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { today } from '../../core/access/viewer.ts';
import type { SourceType } from '../../platform/db/schema/column_types.ts';
import { int, nullable, object, string } from '../../platform/http/schema.ts';
import { selectAncestors } from '../namespaces/ancestors.ts';
import { visibleGroups } from './visible.ts';

export const sharedGroupShape = object({
  group_id: int,
  group_name: string,
  group_full_path: string,
  group_access_level: int,
  expires_at: nullable(string),
});

type SharedGroup = {
  group_id: number;
  group_name: string;
  group_full_path: string;
  group_access_level: number;
  expires_at: string | null;
};

/** Over `group_links`: the share has not ended. */
export const isCurrentLink = (now: number): RawBuilder<boolean> =>
  sql<boolean>`(group_links.expires_at is null or group_links.expires_at > ${today(now)})`;

type Place = { type: SourceType; id: number; namespace_id: number };

/**
 * Subquery: the groups whose members have a role in a place because it, or a group above it, is shared with them:
 * `id`, `access` (the highest role) and `expires_at`. The groups above a group count as it does.
 */
export const invitedGroups = ({ type, id, namespace_id }: Place, now: number): RawBuilder<unknown> => sql`(
  with recursive reach (id, access, expires_at) as (
    select group_id, group_access, expires_at from group_links
    where ${isCurrentLink(now)} and ((source_type = ${type} and source_id = ${id})
      or (source_type = 'Namespace' and source_id in ${selectAncestors(namespace_id)}))
    union
    select namespaces.parent_id, reach.access, reach.expires_at
    from namespaces join reach on namespaces.id = reach.id where namespaces.parent_id is not null
  ) select id, access, expires_at from reach)`;

/** Subquery: ids of projects shared with any of these groups, if the caller sees the groups. */
export const selectSharedProjects = (
  groups: RawBuilder<number>,
  { viewer, platform, now }: Pick<Call, 'viewer' | 'platform' | 'now'>,
): RawBuilder<number> => sql<number>`(
  select source_id from group_links join namespaces on namespaces.id = group_links.group_id
  where group_id in ${groups} and source_type = 'Project' and ${isCurrentLink(now)}
    and ${visibleGroups(viewer, platform.store.dialect)})`;

/** Loads the groups with which projects or groups are shared, by id of the project or group, in one statement. */
export const loadSharedGroups = async (
  { db, viewer, platform, now }: Pick<Call, 'db' | 'viewer' | 'platform' | 'now'>,
  type: SourceType,
  ids: readonly number[],
): Promise<Map<number, SharedGroup[]>> => {
  if (ids.length === 0) return new Map();
  const { dialect } = platform.store;
  const rows = await db
    .selectFrom('group_links')
    .innerJoin('namespaces', 'namespaces.id', 'group_links.group_id')
    .select([
      'group_links.source_id',
      'group_links.group_id',
      'namespaces.name as group_name',
      'namespaces.full_path as group_full_path',
      'group_links.group_access as group_access_level',
      'group_links.expires_at',
    ])
    .where('group_links.source_type', '=', type)
    .where(dialect.oneOf('group_links.source_id', ids))
    .where(isCurrentLink(now))
    .where(visibleGroups(viewer, dialect))
    .orderBy('group_links.id')
    .execute();
  return Map.groupBy(rows, ({ source_id }) => source_id);
};
