import type { MigrationText } from '../ddl_keywords.ts';

/** Each change wrote a page of an index that only moves of refs are read by, which have their own now. */
export const dropEventsProject: MigrationText = {
  name: '0222_drop_events_project',
  statements: () => ['drop index events_project'],
};
