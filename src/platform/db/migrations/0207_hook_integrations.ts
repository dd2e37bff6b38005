import type { MigrationText } from '../ddl_keywords.ts';

/** Hooks that the API sets as integrations, such as `slack`. */
export const hookIntegrations: MigrationText = {
  name: '0207_hook_integrations',
  statements: ({ text }) => [`alter table hooks add column integration ${text}`],
};
