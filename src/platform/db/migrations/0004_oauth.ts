import type { MigrationText } from '../ddl_keywords.ts';

export const oauth: MigrationText = {
  name: '0004_oauth',
  statements: ({ id, text, integer, end }) => [
    `create table oauth_applications (
      id ${id},
      owner_id ${integer} references users (id) on delete cascade,
      name ${text} not null,
      uid ${text} not null unique,
      secret_hash ${text} not null,
      redirect_uris ${text} not null,
      scopes ${text} not null,
      confidential ${integer} not null,
      trusted ${integer} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create index oauth_applications_owner on oauth_applications (owner_id, id)',

    `create table oauth_grants (
      id ${id},
      code_hash ${text} not null unique,
      application_id ${integer} not null references oauth_applications (id) on delete cascade,
      user_id ${integer} not null references users (id) on delete cascade,
      redirect_uri ${text} not null,
      scopes ${text} not null,
      code_challenge ${text},
      family ${text} not null,
      dies_at ${integer} not null,
      used_at ${integer},
      created_at ${integer} not null
    ) ${end}`,
    'create index oauth_grants_application on oauth_grants (application_id)',
    'create index oauth_grants_user on oauth_grants (user_id)',
    'create index oauth_grants_death on oauth_grants (dies_at)',

    `alter table tokens add column dies_at ${integer}`,
    `alter table tokens add column application_id ${integer} references oauth_applications (id) on delete cascade`,
    `alter table tokens add column refresh_hash ${text}`,
    `alter table tokens add column family ${text}`,
    'create unique index tokens_refresh on tokens (refresh_hash)',
    'create index tokens_application on tokens (application_id)',
    'create index tokens_family on tokens (family)',
    'create index tokens_death on tokens (dies_at) where dies_at is not null',

    `create table user_identities (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      provider ${text} not null,
      extern_uid ${text} not null,
      created_at ${integer} not null,
      unique (provider, extern_uid)
    ) ${end}`,
    'create unique index user_identities_user on user_identities (user_id, provider)',
  ],
};
