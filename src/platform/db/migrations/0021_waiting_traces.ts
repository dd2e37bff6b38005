import type { MigrationText } from '../ddl_keywords.ts';

export const waitingTraces: MigrationText = {
  name: '0021_waiting_traces',
  statements: ({ integer }) => [
    // Since when a finished log waits for a bucket that refused it; null: stored, or not finished.
    `alter table shared_traces add column waits_since ${integer}`,
    `create index shared_traces_waiting on shared_traces (waits_since, job_id) where waits_since is not null`,
  ],
};
