import type { MigrationText } from '../ddl_keywords.ts';

/** `artifacts_of_project` stands for it. */
export const dropArtifactsSizes: MigrationText = {
  name: '0184_drop_artifacts_sizes',
  statements: () => ['drop index artifacts_sizes'],
};
