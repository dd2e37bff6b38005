import type { MigrationText } from '../ddl_keywords.ts';

/** Notification levels of users: their own, and those for groups and projects. */
export const notificationSettings: MigrationText = {
  name: '0053_notification_settings',
  statements: ({ id, integer, text, end }) => [
    `create table notification_settings (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      project_id ${integer} references projects (id) on delete cascade,
      group_id ${integer} references namespaces (id) on delete cascade,
      level ${text} not null,
      events ${text} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null,
      check (project_id is null or group_id is null)
    ) ${end}`,
    `create unique index notification_settings_user on notification_settings (user_id)
      where project_id is null and group_id is null`,
    `create unique index notification_settings_project on notification_settings (project_id, user_id)
      where project_id is not null`,
    `create unique index notification_settings_group on notification_settings (group_id, user_id)
      where group_id is not null`,
    // For the deletion of a user.
    'create index notification_settings_of_user on notification_settings (user_id)',
  ],
};
