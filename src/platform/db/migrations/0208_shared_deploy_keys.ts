import type { MigrationText } from '../ddl_keywords.ts';

/** Deploy keys of the instance, which maintainers of any project may enable. */
export const sharedDeployKeys: MigrationText = {
  name: '0208_shared_deploy_keys',
  statements: ({ integer }) => [`alter table keys add column shared ${integer} not null default 0`],
};
