/**
 * The statistics of SQLite's planner. Without them, it assumes that a condition on the first column of an index leaves
 * ten rows. But nearly all records have no time of deletion, and a project may have thousands of issues: it would read
 * all records of the instance to find a few by their ids. Measured statistics (`analyze`) would change plans from
 * instance to instance.
 */
import { sql } from 'kysely';
import type { Store } from '../open.ts';

/** SQLite's assumption for a table without statistics. */
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
  inProject(table, `${table}_upvotes`, rowsOfProject, 100, 1),
  inProject(table, `${table}_title`, rowsOfProject, 1, 1),
]);

const statistics: readonly Statistics[] = [
  ['projects', 'projects_visibility', rowsOfTable, rowsOfTable / 4, 10, 1],
  ...ofTrackers,
  ['issues', 'issues_all_position', rowsOfTable, 1],
  inProject('issues', 'issues_position', rowsOfProject, 1),
  inProject('issues', 'issues_state_position', rowsOfProject, 500, 1),
  inProject('issues', 'issues_confidential', 10),
  // Large enough that SQLite prefers the few ids of a search to a range of dates. Lists that read in date order name
  // the index.
  ['issues', 'issues_project_due', rowsOfProject * 16, rowsOfProject * 16, 10, 10, 1, 1, 1, 1, 1],
  inProject('issues', 'issues_due_day', rowsOfProject, 10, 1),
  inProject('merge_requests', 'merge_requests_merged', rowsOfProject, 1, 1),
  inProject('merge_requests', 'merge_requests_target', 10, 10),
  inProject('merge_requests', 'merge_requests_project_source', rowsOfProject, 10, 10, 1),
  inProject('merge_requests', 'merge_requests_project_target', rowsOfProject, 10, 10, 1),
  inProject('merge_requests', 'merge_requests_merge_commit', 10),
  inProject('merge_requests', 'merge_requests_squash_commit', 10),
  inProject('merge_requests', 'merge_requests_head', 10),
  ['merge_requests', 'merge_requests_scheduled', 10, 10, 10],
  ['merge_requests', 'merge_requests_scheduled_source', 10, 10, 10],
];

type Row = { tbl: string; idx: string | null; stat: string };

const plannerRows: readonly (Row & { idx: string })[] = statistics.map(([tbl, idx, ...rows]) => ({
  tbl,
  idx,
  stat: [rowsOfTable, ...rows].join(' '),
}));

/** Creates the table of the statistics if it does not exist, and makes this handle read it. */
const analyze = 'analyze sqlite_schema';

/**
 * Dropping the table, instead of deleting its rows, changes the schema, so that the other handles reload the statistics
 * too.
 */
const drop = 'drop table if exists sqlite_stat1';

const toStatements = (rows: readonly Row[]): string[] => [
  drop,
  analyze,
  ...rows.map(
    ({ tbl, idx, stat }) =>
      `insert into sqlite_stat1 (tbl, idx, stat) values ('${tbl}', '${idx}', '${stat}')`,
  ),
  analyze,
];

/** Statements that write the statistics of a database with the schema of this version. */
export const plannerStatements: readonly string[] = toStatements(plannerRows);

/** Lists the rows of the database. */
const loadRows = async ({ db }: Pick<Store, 'db'>): Promise<Row[]> => {
  const table = await sql`select 1 from sqlite_schema where name = 'sqlite_stat1'`.execute(db);
  if (table.rows.length === 0) return [];
  const { rows } = await sql<Row>`select tbl, idx, stat from sqlite_stat1`.execute(db);
  return rows;
};

/** Selects the rows of the indexes that the schema, maybe of an earlier version, has. */
const selectRows = async ({ db }: Pick<Store, 'db'>): Promise<Row[]> => {
  const { rows } = await sql<{ name: string }>`select name from sqlite_schema where type = 'index'`.execute(
    db,
  );
  const existing = new Set(rows.map(({ name }) => name));
  return plannerRows.filter(({ idx }) => existing.has(idx));
};

/** Compares, too, how often each row occurs. */
const toText = (rows: readonly Row[]): string =>
  rows
    .map(({ tbl, idx, stat }) => `${tbl} ${idx} ${stat}`)
    .toSorted()
    .join('\n');

/** Writes the statistics if the database has others, such as after `analyze` or of an earlier version. */
export const restorePlannerStatistics = async (store: Store): Promise<void> => {
  const rows = await selectRows(store);
  if (toText(rows) === toText(await loadRows(store))) return;
  await store.write(async ({ db }) => {
    for (const statement of toStatements(rows)) await sql.raw(statement).execute(db);
  });
};
