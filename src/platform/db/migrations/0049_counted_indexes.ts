import type { Ddl, MigrationText } from '../ddl_keywords.ts';

/** Columns that decide on visibility, and the state. */
const shownBy = {
  issues: 'project_id, state, confidential',
  merge_requests: 'project_id, state',
} as const;

/**
 * Lists columns that are read from the index but not searched by. Otherwise PostgreSQL would search the whole index
 * by them while it lacks statistics about a table.
 */
const covering = ({ engine }: Ddl, keys: string, others: string): string =>
  engine === 'sqlite' ? `(${keys}, ${others})` : `(${keys}) include (${others})`;

/**
 * Covering indexes for filtered totals: by milestone, by last change, and by the ids of assignees, reviewers and
 * labels. A count then reads no record, whose texts are long. SQLite uses the last index only for statements that
 * repeat its condition.
 */
export const countedIndexes: MigrationText = {
  name: '0049_counted_indexes',
  statements: (ddl) =>
    (['issues', 'merge_requests'] as const).flatMap((table) => [
      `drop index ${table}_milestone`,
      `create index ${table}_milestone on ${table}
        ${covering(ddl, 'milestone_id, deleted_at, created_at, id', shownBy[table])}`,
      `drop index ${table}_all_updated`,
      `create index ${table}_all_updated on ${table}
        ${covering(ddl, 'deleted_at, updated_at, id', shownBy[table])}`,
      `create index ${table}_linked on ${table} ${covering(ddl, 'id', `deleted_at, ${shownBy[table]}`)}
        ${ddl.engine === 'sqlite' ? 'where id > 0' : ''}`,
    ]),
};
