import { sql } from 'kysely';
import type { Tx } from '../db/open.ts';

/** What of an issue the totals of its project count; null for one that is not there (yet, or any more). */
export type Counted = { state: 'opened' | 'closed'; confidential: number } | null;

const columns = [
  'opened_issues',
  'closed_issues',
  'opened_confidential_issues',
  'closed_confidential_issues',
] as const;

type Column = (typeof columns)[number];

const countsIn = (issue: Counted): Set<Column> => {
  if (issue === null) return new Set();
  const counted = new Set<Column>([`${issue.state}_issues`]);
  if (issue.confidential === 1) counted.add(`${issue.state}_confidential_issues`);
  return counted;
};

/** Keeps the exact totals in the transaction of the change, and marks what was cached of the project as old. */
export const countIssue = async (
  tx: Tx,
  projectId: number,
  before: Counted,
  after: Counted,
): Promise<void> => {
  await tx.db
    .updateTable('project_counters')
    .set(changes(before, after))
    .where('project_id', '=', projectId)
    .execute();
};

const changes = (before: Counted, after: Counted) => {
  const was = countsIn(before);
  const is = countsIn(after);
  const moved = columns.filter((column) => was.has(column) !== is.has(column));
  const steps = moved.map((column) => [column, sql<number>`${sql.ref(column)} + ${is.has(column) ? 1 : -1}`]);
  return { issues_version: sql<number>`issues_version + 1`, ...Object.fromEntries(steps) };
};

/** Counts a new issue and answers its iid: the next of its project, gapless under concurrency. */
export const takeIid = async (tx: Tx, projectId: number, issue: Counted): Promise<number> => {
  const { issue_iid } = await tx.db
    .updateTable('project_counters')
    .set({ ...changes(null, issue), issue_iid: sql<number>`issue_iid + 1` })
    .where('project_id', '=', projectId)
    .returning('issue_iid')
    .executeTakeFirstOrThrow();
  return issue_iid;
};

/** Locks the counters of two projects, in an order that all who lock two keep to: else they wait for each other. */
export const lockCounters = async (tx: Tx, projectIds: [number, number]): Promise<void> => {
  await sql`select project_id from project_counters where project_id in (${sql.join(projectIds)})
    order by project_id ${tx.words.forUpdate}`.execute(tx.db);
};
