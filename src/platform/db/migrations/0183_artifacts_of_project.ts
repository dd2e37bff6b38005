import { indexMigration } from '../concurrent_indexes.ts';

/** Artifacts of a project in the order of their ids, for work in batches; with the sizes, for sums. */
export const artifactsOfProject = indexMigration('0183_artifacts_of_project', [
  { name: 'artifacts_of_project', on: 'artifacts (project_id, id, size)' },
]);
