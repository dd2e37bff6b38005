import type { MigrationText } from '../ddl_keywords.ts';

/** Records which process holds a piece of work, so that work of a dead process need not wait for its lease. */
export const workHolders: MigrationText = {
  name: '0028_work_holders',
  statements: ({ text }) => [`alter table work add column locked_by ${text}`],
};
