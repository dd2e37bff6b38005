import { indexMigration } from '../concurrent_indexes.ts';

/** Merge requests whose merge is scheduled, by both of their projects. */
export const scheduledMerges = indexMigration('0181_scheduled_merges', [
  {
    name: 'merge_requests_scheduled',
    on: 'merge_requests (project_id, deleted_at, state) where merge_when_pipeline_succeeds = 1',
  },
  {
    name: 'merge_requests_scheduled_source',
    on: 'merge_requests (source_project_id, deleted_at, state) where merge_when_pipeline_succeeds = 1',
  },
]);
