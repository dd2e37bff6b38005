import type { MigrationText } from '../ddl_keywords.ts';

/** From where an SSH key or a deploy token was last used. */
export const keyAddresses: MigrationText = {
  name: '0213_key_addresses',
  statements: ({ text }) => [
    `alter table keys add column last_used_ip ${text}`,
    `alter table deploy_tokens add column last_used_ip ${text}`,
  ],
};
