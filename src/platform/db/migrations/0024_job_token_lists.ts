import type { MigrationText } from '../ddl_keywords.ts';

export const jobTokenLists: MigrationText = {
  name: '0024_job_token_lists',
  statements: ({ integer, end }) => {
    const list = (name: string, target: string, of: string): string[] => [
      `create table ${name} (
        project_id ${integer} not null references projects (id) on delete cascade,
        ${target} ${integer} not null references ${of} (id) on delete cascade,
        created_at ${integer} not null,
        primary key (project_id, ${target})
      ) ${end}`,
      `create index ${name}_target on ${name} (${target})`,
    ];
    return [
      `alter table projects add column job_token_list_enabled ${integer} not null default 1`,
      ...list('job_token_projects', 'target_project_id', 'projects'),
      ...list('job_token_groups', 'target_group_id', 'namespaces'),
    ];
  },
};
