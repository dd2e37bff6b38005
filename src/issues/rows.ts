/** Issues with what their JSON embeds, in a number of statements that does not depend on how many they are. */
import { type Selectable, sql } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Words } from '../db/engine.ts';
import type { Reader } from '../db/open.ts';
import type { IssuesTable } from '../db/schema.ts';
import { joinedUser, joinedUserColumns } from '../issuables/joined_users.ts';
import {
  type Relations,
  joinedColumns,
  wholeColumns,
  wholeOf,
  withRelations as completed,
} from '../issuables/rows.ts';
import type { BasicUserRow } from '../users/json.ts';

export type IssueRow = Selectable<IssuesTable>;

export type FullIssue = IssueRow &
  Relations & {
    project_path: string;
    closed_by: BasicUserRow | null;
    /** Merge requests of its own project that close it, also those that a caller does not see. */
    merge_requests_count: number;
  };

/** Over `issues`. */
export const closersCount = sql<number>`(select count(*) from merge_requests_closing_issues as closing
  join merge_requests as closer on closer.id = closing.merge_request_id
  where closing.issue_id = issues.id and closer.project_id = issues.project_id and closer.deleted_at is null)`;

/** Issues with their author, closer and milestone, for a query over `issues` joined with `projects`. */
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

/** Completes rows, in their order. */
export const withRelations = async (db: Reader, rows: JoinedIssue[]): Promise<FullIssue[]> =>
  (await completed(db, 'Issue', rows)).map(withCloser);

const rowsById = compiled((db, { ids }: { ids: readonly number[] }, words) =>
  selectIssues(db).where(words.oneOf('issues.id', ids)).compile(),
);

/** One issue with all it embeds, in one statement: for many, three are quicker. */
const selectWhole = (db: Reader, words: Words) =>
  selectIssues(db).select(wholeColumns('Issue', 'issues', words));

const wholeById = compiled((db, { id }: { id: number }, words) =>
  selectWhole(db, words).where('issues.id', '=', id).compile(),
);

const wholeByIid = compiled((db, { project_id, iid }: { project_id: number; iid: number }, words) =>
  selectWhole(db, words).where('issues.project_id', '=', project_id).where('issues.iid', '=', iid).compile(),
);

/** The issue with this id, whoever sees it. */
export const issueById = async (db: Reader, id: number): Promise<FullIssue | undefined> =>
  (await wholeById(db, { id })).map((row) => withCloser(wholeOf(row)))[0];

/** The issue with this iid, whoever sees it. */
export const issueByIid = async (
  db: Reader,
  project_id: number,
  iid: number,
): Promise<FullIssue | undefined> =>
  (await wholeByIid(db, { project_id, iid })).map((row) => withCloser(wholeOf(row)))[0];

/** The issues of these ids, whoever sees them, in no order. */
export const issuesById = async (db: Reader, ids: readonly number[]): Promise<FullIssue[]> => {
  const [only] = ids;
  if (only === undefined) return [];
  if (ids.length > 1) return await withRelations(db, await rowsById(db, { ids }));
  const issue = await issueById(db, only);
  return issue === undefined ? [] : [issue];
};
