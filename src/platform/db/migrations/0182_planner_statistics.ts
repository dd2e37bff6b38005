import type { MigrationText } from '../ddl_keywords.ts';

/** What SQLite assumes of a table without statistics. */
const rowsOfTable = 1_048_576;
const rowsOfProject = 1000;

/** Index, with the rows that have the same values in its first column, its first two, and so on. */
type Statistics = readonly [table: string, index: string, ...rows: number[]];

const inProject = (table: string, index: string, ...rest: number[]): Statistics => [
  table,
  index,
  rowsOfProject,
  ...rest,
];

/** Indexes of both issues and merge requests. */
const ofTrackers = ['issues', 'merge_requests'].flatMap((table): Statistics[] => [
  [table, `${table}_all_created`, rowsOfTable, 10, 1],
  [table, `${table}_all_updated`, rowsOfTable, 10, 1, 1, 1],
  inProject(table, `${table}_iid`, 1),
  inProject(table, `${table}_created`, rowsOfProject, 10, 1),
  inProject(table, `${table}_updated`, rowsOfProject, 10, 1),
  inProject(table, `${table}_state_created`, rowsOfProject, 500, 10, 1),
  inProject(table, `${table}_state_updated`, rowsOfProject, 500, 10, 1),
  inProject(table, `${table}_project_author`, rowsOfProject, 10, 10, 1),
]);

const statistics: readonly Statistics[] = [
  ['projects', 'projects_visibility', rowsOfTable, rowsOfTable / 4, 10, 1],
  ...ofTrackers,
  ['issues', 'issues_all_position', rowsOfTable, 1],
  inProject('issues', 'issues_position', rowsOfProject, 1),
  inProject('issues', 'issues_state_position', rowsOfProject, 500, 1),
  inProject('issues', 'issues_confidential', 10),
  inProject('merge_requests', 'merge_requests_target', 10, 10),
  inProject('merge_requests', 'merge_requests_project_source', rowsOfProject, 10, 10, 1),
  inProject('merge_requests', 'merge_requests_project_target', rowsOfProject, 10, 10, 1),
  inProject('merge_requests', 'merge_requests_merge_commit', 10),
  inProject('merge_requests', 'merge_requests_squash_commit', 10),
  inProject('merge_requests', 'merge_requests_head', 10),
  ['merge_requests', 'merge_requests_scheduled', 10, 10, 10],
  ['merge_requests', 'merge_requests_scheduled_source', 10, 10, 10],
];

const insertText = ([table, index, ...rows]: Statistics): string =>
  `insert into sqlite_stat1 (tbl, idx, stat) values ('${table}', '${index}', '${[rowsOfTable, ...rows].join(' ')}')`;

/**
 * Without statistics, SQLite assumes that a condition on the first column of an index leaves ten rows. But nearly all
 * records have no time of deletion, and a project may have thousands of issues: it would read all records of the
 * instance to find a few by their ids. Measured statistics (`analyze`) would change plans from instance to instance.
 */
export const plannerStatistics: MigrationText = {
  name: '0182_planner_statistics',
  statements: ({ engine }) =>
    engine === 'sqlite'
      ? ['analyze sqlite_schema', ...statistics.map(insertText), 'analyze sqlite_schema']
      : [],
};
