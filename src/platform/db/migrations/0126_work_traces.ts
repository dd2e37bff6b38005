import type { MigrationText } from '../ddl_keywords.ts';

/** The trace of the request or work that enqueued a piece of work, which its spans join. */
export const workTraces: MigrationText = {
  name: '0126_work_traces',
  statements: ({ text }) => [`alter table work add column trace ${text}`],
};
