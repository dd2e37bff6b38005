import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { NotificationLevel } from '../../platform/db/schema/column_types.ts';
import type { SentEvents } from './levels.ts';

/** Scope of a setting; without project and group: the user's general level, which others refer to as `global`. */
export type Source = { project_id: number | null; group_id: number | null };

export type NotificationSetting = { level: NotificationLevel; events: SentEvents };

type StoredSetting = NotificationSetting & { id: number };

/** Over `notification_settings`: the setting of a user for a source. */
const isSettingOf = (userId: number, { project_id, group_id }: Source): RawBuilder<boolean> => {
  const isSame = (column: string, id: number | null) =>
    id === null ? sql`${sql.ref(column)} is null` : sql`${sql.ref(column)} = ${id}`;
  return sql<boolean>`(user_id = ${userId} and ${isSame('project_id', project_id)}
    and ${isSame('group_id', group_id)})`;
};

/** Loads the stored setting of a user for a source; null if they have the default. */
export const findStoredSetting = async (
  db: Reader,
  userId: number,
  source: Source,
): Promise<StoredSetting | null> => {
  const row = await db
    .selectFrom('notification_settings')
    .select(['id', 'level', 'events'])
    .where(isSettingOf(userId, source))
    .executeTakeFirst();
  return row === undefined ? null : { ...row, events: JSON.parse(row.events) as SentEvents };
};

export const defaultSetting = ({ project_id, group_id }: Source): NotificationSetting => ({
  level: project_id === null && group_id === null ? 'participating' : 'global',
  events: {},
});

/** Loads the setting of a user for a source, or its default. */
export const loadSetting = async (db: Reader, userId: number, source: Source): Promise<NotificationSetting> =>
  (await findStoredSetting(db, userId, source)) ?? defaultSetting(source);
