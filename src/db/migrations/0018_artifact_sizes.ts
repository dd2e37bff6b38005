import type { MigrationText } from '../ddl.ts';

export const artifactSizes: MigrationText = {
  name: '0018_artifact_sizes',
  // Summed for the statistics of a project, from the index alone.
  statements: () => ['create index artifacts_sizes on artifacts (project_id, size)'],
};
