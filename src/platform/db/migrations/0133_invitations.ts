import type { MigrationText } from '../ddl_keywords.ts';

/** Addresses that were invited to projects and groups, until an account accepts. */
export const invitations: MigrationText = {
  name: '0133_invitations',
  statements: ({ id, text, integer, end }) => [
    `create table invitations (
      id ${id},
      source_type ${text} not null,
      source_id ${integer} not null,
      email ${text} not null,
      access_level ${integer} not null,
      expires_at ${text},
      created_by_id ${integer},
      created_at ${integer} not null,
      mailed_at ${integer},
      mail_error ${text}
    ) ${end}`,
    'create unique index invitations_source on invitations (source_type, source_id, email)',
    'create index invitations_email on invitations (email)',
  ],
};
