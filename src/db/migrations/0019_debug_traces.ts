import type { MigrationText } from '../ddl.ts';

export const debugTraces: MigrationText = {
  name: '0019_debug_traces',
  statements: ({ integer }) => [
    // 1: each command was shown with the values of its variables; fewer people may read that.
    `alter table jobs add column debug_trace ${integer} not null default 0`,
  ],
};
