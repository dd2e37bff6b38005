import type { MigrationText } from '../ddl_keywords.ts';

/** Statuses of users, badges of projects and groups, and links between issues. */
export const statusesBadgesLinks: MigrationText = {
  name: '0061_statuses_badges_links',
  statements: ({ id, integer, text, end }) => [
    `create table user_statuses (
      user_id ${integer} primary key references users (id) on delete cascade,
      emoji ${text} not null,
      message ${text} not null,
      availability ${text} not null,
      clear_at ${integer}
    ) ${end}`,
    `create table badges (
      id ${id},
      project_id ${integer} references projects (id) on delete cascade,
      group_id ${integer} references namespaces (id) on delete cascade,
      name ${text},
      link_url ${text} not null,
      image_url ${text} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null,
      check ((project_id is null) <> (group_id is null))
    ) ${end}`,
    'create index badges_project on badges (project_id, id) where project_id is not null',
    'create index badges_group on badges (group_id, id) where group_id is not null',
    `create table issue_links (
      id ${id},
      source_id ${integer} not null references issues (id) on delete cascade,
      target_id ${integer} not null references issues (id) on delete cascade,
      link_type ${text} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null,
      unique (source_id, target_id)
    ) ${end}`,
    'create index issue_links_target on issue_links (target_id)',
  ],
};
