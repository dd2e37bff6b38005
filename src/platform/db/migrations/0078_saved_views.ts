import type { MigrationText } from '../ddl_keywords.ts';

/** Filters of lists of issues and merge requests that users keep under a name. */
export const savedViews: MigrationText = {
  name: '0078_saved_views',
  statements: ({ id, text, integer, end }) => [
    `create table saved_views (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      kind ${text} not null,
      project_id ${integer} references projects (id) on delete cascade,
      group_id ${integer} references namespaces (id) on delete cascade,
      name ${text} not null,
      query ${text} not null,
      created_at ${integer} not null
    ) ${end}`,
    `create unique index saved_views_name
      on saved_views (user_id, kind, coalesce(project_id, 0), coalesce(group_id, 0), name)`,
    'create index saved_views_project on saved_views (project_id) where project_id is not null',
    'create index saved_views_group on saved_views (group_id) where group_id is not null',
  ],
};
