/** Loads issues with the records that their JSON embeds, in a fixed number of statements. */
import { type Selectable, sql } from 'kysely';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { IssuesTable } from '../../platform/db/schema/planning.ts';
import { joinedUser, joinedUserColumns } from '../issuables/lists/joined_users.ts';
import {
  type Relations,
  joinedColumns,
  wholeColumns,
  parseRelations,
  withRelations as completed,
} from '../issuables/lists/rows.ts';
import type { BasicUserRow } from '../../identity/users/json.ts';

export type IssueRow = Selectable<IssuesTable>;

export type FullIssue = IssueRow &
  Relations & {
    project_path: string;
    closed_by: BasicUserRow | null;
    /** Merge requests of the issue's project that close it, including merge requests that the caller cannot see. */
    merge_requests_count: number;
  };

/**
 * SQL over `issues`: the number of merge requests of the same project that close the issue. A cross join, so that
 * SQLite starts from the issue: it would look at every merge request of the project, for each issue.
 */
export const closersCount = sql<number>`(select count(*) from merge_requests_closing_issues as closing
  cross join merge_requests as closer
  where closer.id = closing.merge_request_id and closing.issue_id = issues.id and closer.project_id = issues.project_id and closer.deleted_at is null)`;

/** Selects issues joined with their project, author, closer and milestone. */
export const selectIssues = (db: Reader) =>
  db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .innerJoin('users as author', 'author.id', 'issues.author_id')
    .leftJoin('milestones as milestone', 'milestone.id', 'issues.milestone_id')
    .leftJoin('users as closed_by', 'closed_by.id', 'issues.closed_by_id')
    .selectAll('issues')
    .select(joinedColumns)
    .select(joinedUserColumns('closed_by'))
    .select(closersCount.as('merge_requests_count'));

export type JoinedIssue = Awaited<ReturnType<ReturnType<typeof selectIssues>['execute']>>[number];

const withCloser = <R extends JoinedIssue>(row: R): R & Pick<FullIssue, 'closed_by'> => ({
  ...row,
  closed_by: joinedUser(row, 'closed_by'),
});

/** Adds the embedded records to rows, keeping their order. */
export const withRelations = async (db: Reader, rows: JoinedIssue[]): Promise<FullIssue[]> =>
  (await completed(db, 'Issue', rows)).map(withCloser);

const rowsById = compiled((db, { ids }: { ids: readonly number[] }, dialect) =>
  selectIssues(db).where(dialect.oneOf('issues.id', ids)).compile(),
);

/** Selects one issue with all embedded records in one statement. For several issues, three statements are faster. */
const selectWhole = (db: Reader, dialect: SqlDialect) =>
  selectIssues(db).select(wholeColumns('Issue', 'issues', dialect));

const wholeById = compiled((db, { id }: { id: number }, dialect) =>
  selectWhole(db, dialect).where('issues.id', '=', id).compile(),
);

const wholeByIid = compiled((db, { project_id, iid }: { project_id: number; iid: number }, dialect) =>
  selectWhole(db, dialect)
    .where('issues.project_id', '=', project_id)
    .where('issues.iid', '=', iid)
    .compile(),
);

/** Loads an issue by id, without a check of visibility. */
export const issueById = async (db: Reader, id: number): Promise<FullIssue | undefined> =>
  (await wholeById(db, { id })).map((row) => withCloser(parseRelations(row)))[0];

/** Loads an issue by iid, without a check of visibility. */
export const issueByIid = async (
  db: Reader,
  project_id: number,
  iid: number,
): Promise<FullIssue | undefined> =>
  (await wholeByIid(db, { project_id, iid })).map((row) => withCloser(parseRelations(row)))[0];

/** Loads issues by id, in no order, without a check of visibility. */
export const issuesById = async (db: Reader, ids: readonly number[]): Promise<FullIssue[]> => {
  const [only] = ids;
  if (only === undefined) return [];
  if (ids.length > 1) return await withRelations(db, await rowsById(db, { ids }));
  const issue = await issueById(db, only);
  return issue === undefined ? [] : [issue];
};
