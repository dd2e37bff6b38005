import type { MigrationText } from '../ddl_keywords.ts';

/** Imports of repositories by URL: the latest of each project. The credentials are sealed, and gone when it ends. */
export const projectImports: MigrationText = {
  name: '0177_project_imports',
  statements: ({ text, integer, end }) => [
    `alter table projects add column import_status ${text} not null default 'none'`,
    `create table project_imports (
      project_id ${integer} primary key references projects (id) on delete cascade,
      user_id ${integer} references users (id) on delete set null,
      url ${text} not null,
      sealed_credentials ${text},
      attempts ${integer} not null default 0,
      error ${text},
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create index project_imports_user on project_imports (user_id) where user_id is not null',
  ],
};
