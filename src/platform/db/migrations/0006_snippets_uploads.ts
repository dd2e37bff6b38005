import type { MigrationText } from '../ddl_keywords.ts';

export const snippetsUploads: MigrationText = {
  name: '0006_snippets_uploads',
  statements: ({ id, text, integer, end }) => [
    // Without a project, a snippet is personal. A user's snippets are deleted with the user.
    `create table snippets (
      id ${id},
      project_id ${integer} references projects (id) on delete cascade,
      author_id ${integer} not null references users (id) on delete cascade,
      title ${text} not null,
      file_name ${text} not null,
      description ${text},
      content ${text} not null,
      visibility ${text} not null,
      user_agent ${text} not null,
      ip_address ${text} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create index snippets_project on snippets (project_id, id)',
    'create index snippets_author on snippets (author_id, project_id, id)',
    'create index snippets_personal on snippets (visibility, id) where project_id is null',

    `create table uploads (
      id ${id},
      project_id ${integer} not null references projects (id) on delete cascade,
      user_id ${integer} references users (id) on delete set null,
      secret ${text} not null unique,
      file_name ${text} not null,
      size ${integer} not null,
      sha256 ${text} not null,
      created_at ${integer} not null
    ) ${end}`,
    'create index uploads_project on uploads (project_id, sha256)',
    'create index uploads_user on uploads (user_id)',
  ],
};
