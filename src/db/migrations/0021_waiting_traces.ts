import type { MigrationText } from '../ddl.ts';

export const waitingTraces: MigrationText = {
  name: '0021_waiting_traces',
  statements: ({ integer }) => [
    // Since when what is finished waits for a bucket that did not take it; null: it is there, or not finished.
    `alter table shared_traces add column waits_since ${integer}`,
    `create index shared_traces_waiting on shared_traces (waits_since, job_id) where waits_since is not null`,
  ],
};
