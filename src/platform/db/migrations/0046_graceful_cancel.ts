import type { MigrationText } from '../ddl_keywords.ts';

/** Whether a job's runner executes `after_script` when the job is canceled. */
export const gracefulCancel: MigrationText = {
  name: '0046_graceful_cancel',
  statements: ({ integer }) => [
    `alter table jobs add column cancels_gracefully ${integer} not null default 0`,
  ],
};
