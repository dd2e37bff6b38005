import type { MigrationText } from '../ddl_keywords.ts';

export const debugTraces: MigrationText = {
  name: '0019_debug_traces',
  statements: ({ integer }) => [
    // 1: the log shows variable values, so fewer people may read it.
    `alter table jobs add column debug_trace ${integer} not null default 0`,
  ],
};
