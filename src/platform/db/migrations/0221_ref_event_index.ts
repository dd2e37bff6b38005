import { indexMigration } from '../concurrent_indexes.ts';

/** Backups read the moves of a project's refs from the change log. Other events need no entry, so they write none. */
export const refEventIndex = indexMigration('0221_ref_event_index', [
  {
    name: 'events_refs',
    on: `events (project_id, id) where kind in ('ref.created', 'ref.updated', 'ref.deleted')`,
  },
]);
