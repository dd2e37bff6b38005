import type { MigrationText } from '../ddl_keywords.ts';

export const keys: MigrationText = {
  name: '0005_keys',
  statements: ({ id, text, integer, end }) => [
    // Deploy keys belong to projects and have no user.
    `create table keys (
      id ${id},
      user_id ${integer} references users (id) on delete cascade,
      title ${text} not null,
      type ${text} not null,
      blob ${text} not null,
      comment ${text} not null,
      family ${text} not null,
      bits ${integer} not null,
      fingerprint ${text} not null,
      fingerprint_sha256 ${text} not null unique,
      expires_at ${integer},
      last_used_at ${integer},
      created_at ${integer} not null
    ) ${end}`,
    'create index keys_user on keys (user_id, id)',
    'create index keys_fingerprint on keys (fingerprint)',
    'create index keys_deploy on keys (id) where user_id is null',

    `create table deploy_key_projects (
      project_id ${integer} not null references projects (id) on delete cascade,
      key_id ${integer} not null references keys (id) on delete cascade,
      can_push ${integer} not null,
      created_at ${integer} not null,
      primary key (project_id, key_id)
    ) ${end}`,
    'create index deploy_key_projects_key on deploy_key_projects (key_id, project_id)',
  ],
};
