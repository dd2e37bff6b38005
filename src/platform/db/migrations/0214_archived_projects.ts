import { indexMigration } from '../concurrent_indexes.ts';

/** Archived projects, which administrators count and list. */
export const archivedProjects = indexMigration('0214_archived_projects', [
  { name: 'projects_archived', on: 'projects (id) where archived = 1 and deleted_at is null' },
]);
