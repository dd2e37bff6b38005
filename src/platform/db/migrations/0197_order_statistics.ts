import type { MigrationText } from '../ddl_keywords.ts';

/** Rows of a table, of a project, and with the same values in the first three columns of an index; then each is one. */
const toStatistics = (equal: number): string => `1048576 1000 1000 ${equal} 1`;

const statistics = [
  ['issues', 'issues_due_day', 10],
  ['issues', 'issues_upvotes', 100],
  ['issues', 'issues_title', 1],
  ['merge_requests', 'merge_requests_merged', 1],
  ['merge_requests', 'merge_requests_upvotes', 100],
  ['merge_requests', 'merge_requests_title', 1],
] as const;

/** What SQLite assumes of the indexes of orders, for the reason of `0182_planner_statistics`. */
export const orderStatistics: MigrationText = {
  name: '0197_order_statistics',
  statements: ({ engine }) =>
    engine === 'sqlite'
      ? [
          ...statistics.map(
            ([table, index, equal]) =>
              `insert into sqlite_stat1 (tbl, idx, stat) values ('${table}', '${index}', '${toStatistics(equal)}')`,
          ),
          'analyze sqlite_schema',
        ]
      : [],
};
