import type { MigrationText } from '../ddl_keywords.ts';

/** From where a token was last used. */
export const tokenAddresses: MigrationText = {
  name: '0175_token_addresses',
  statements: ({ text }) => [`alter table tokens add column last_used_ip ${text}`],
};
