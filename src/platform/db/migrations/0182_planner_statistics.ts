import type { MigrationText } from '../ddl_keywords.ts';

/** Changes nothing: `sqlite/planner_statistics.ts` writes the statistics after all migrations, and at each start. */
export const plannerStatistics: MigrationText = {
  name: '0182_planner_statistics',
  statements: () => [],
};
