import type { MigrationText } from '../ddl_keywords.ts';

/** Groups with which projects and groups are shared: their members have a role in them. */
export const groupLinks: MigrationText = {
  name: '0087_group_links',
  statements: ({ id, text, integer, end }) => [
    `create table group_links (
      id ${id},
      source_type ${text} not null,
      source_id ${integer} not null,
      group_id ${integer} not null references namespaces (id) on delete cascade,
      group_access ${integer} not null,
      expires_at ${text},
      created_at ${integer} not null
    ) ${end}`,
    'create unique index group_links_source on group_links (source_type, source_id, group_id)',
    'create index group_links_group on group_links (group_id, source_type)',
  ],
};
