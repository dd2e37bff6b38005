import type { MigrationText } from '../ddl_keywords.ts';

/**
 * Random part of a job log's file name. A restored database may reuse ids; a new job then never meets the log of
 * another job with its id.
 */
export const traceKeys: MigrationText = {
  name: '0050_trace_keys',
  statements: ({ text }) => [`alter table jobs add column trace_key ${text}`],
};
