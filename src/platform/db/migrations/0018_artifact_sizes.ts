import type { MigrationText } from '../ddl_keywords.ts';

export const artifactSizes: MigrationText = {
  name: '0018_artifact_sizes',
  // Covers the sum in a project's statistics.
  statements: () => ['create index artifacts_sizes on artifacts (project_id, size)'],
};
