import { indexMigration } from '../concurrent_indexes.ts';

/** The header of a project counts the users who watch it. */
export const watcherIndex = indexMigration('0226_watcher_index', [
  { name: 'notification_settings_watchers', on: `notification_settings (project_id) where level = 'watch'` },
]);
