import type { MigrationText } from '../ddl_keywords.ts';

/** OpenPGP keys of users, and the keys in each that may sign, as they were checked when the key was added. */
export const gpgKeys: MigrationText = {
  name: '0134_gpg_keys',
  statements: ({ id, text, integer, end }) => [
    `create table gpg_keys (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      key ${text} not null,
      fingerprint ${text} not null,
      primary_keyid ${text} not null,
      users ${text} not null,
      created_at ${integer} not null
    ) ${end}`,
    'create unique index gpg_keys_fingerprint on gpg_keys (fingerprint)',
    'create index gpg_keys_user on gpg_keys (user_id, id)',
    `create table gpg_signing_keys (
      id ${id},
      gpg_key_id ${integer} not null references gpg_keys (id) on delete cascade,
      keyid ${text} not null,
      fingerprint ${text} not null,
      is_primary ${integer} not null,
      body ${text} not null,
      ends_at ${integer},
      is_revoked ${integer} not null
    ) ${end}`,
    'create index gpg_signing_keys_keyid on gpg_signing_keys (keyid)',
    'create index gpg_signing_keys_gpg_key on gpg_signing_keys (gpg_key_id)',
  ],
};
