import type { MigrationText } from '../ddl.ts';

/** Which process holds a piece of work: what one has left that is known to be gone need not wait for its lease. */
export const workHolders: MigrationText = {
  name: '0028_work_holders',
  statements: ({ text }) => [`alter table work add column locked_by ${text}`],
};
