import { sql } from 'kysely';
import type { Viewer } from '../../../core/access/viewer.ts';
import type { NotificationLevel } from '../../../platform/db/schema/column_types.ts';

/** Each level with its number, which the permissions of a project show. */
export const notificationLevels: Record<NotificationLevel, number> = {
  disabled: 0,
  participating: 1,
  watch: 2,
  global: 3,
  mention: 4,
  custom: 5,
};

/**
 * Over projects with their counters and namespaces: the viewer's notification level for the project, and for its
 * group; null: the default.
 */
export const selectNotificationLevels = ({ user_id }: Viewer) => {
  const levelFor = (source: 'project_id' | 'group_id', id: string) =>
    user_id === null
      ? sql<NotificationLevel | null>`null`
      : sql<NotificationLevel | null>`(select level from notification_settings
          where notification_settings.${sql.ref(source)} = ${sql.ref(id)} and user_id = ${user_id})`;
  return [
    levelFor('project_id', 'project_counters.project_id').as('project_notification_level'),
    levelFor('group_id', 'namespaces.id').as('group_notification_level'),
  ] as const;
};

export const toLevelNumber = (level: NotificationLevel | null): number =>
  notificationLevels[level ?? 'global'];
