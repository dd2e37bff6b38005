import type { MigrationText } from '../ddl_keywords.ts';

/** Tokens that read the code, and the images, of a project or of the projects of a group. */
export const deployTokens: MigrationText = {
  name: '0086_deploy_tokens',
  statements: ({ id, text, integer, end }) => [
    `create table deploy_tokens (
      id ${id},
      project_id ${integer} references projects (id) on delete cascade,
      group_id ${integer} references namespaces (id) on delete cascade,
      name ${text} not null,
      username ${text} not null,
      token_hash ${text} not null,
      scopes ${text} not null,
      expires_at ${integer},
      created_at ${integer} not null,
      last_used_at ${integer}
    ) ${end}`,
    'create unique index deploy_tokens_hash on deploy_tokens (token_hash)',
    'create index deploy_tokens_project on deploy_tokens (project_id, id) where project_id is not null',
    'create index deploy_tokens_group on deploy_tokens (group_id, id) where group_id is not null',
  ],
};
