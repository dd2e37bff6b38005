/** Groups with which a project or group is shared, as far as the caller sees them. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { today } from '../../core/access/viewer.ts';
import type { SourceType } from '../../platform/db/schema/column_types.ts';
import { int, nullable, object, string } from '../../platform/http/schema.ts';
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
