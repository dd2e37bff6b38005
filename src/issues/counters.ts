import { sql } from 'kysely';
import { compiled } from '../db/compiled.ts';
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

/** Which counters a change moves, and by how much. */
const stepsOf = (before: Counted, after: Counted): [Column, 1 | -1][] => {
  const was = countsIn(before);
  const is = countsIn(after);
  return columns
    .filter((column) => was.has(column) !== is.has(column))
    .map((column) => [column, is.has(column) ? 1 : -1]);
};

const settingOf = (steps: [Column, 1 | -1][]) =>
  Object.fromEntries(steps.map(([column, by]) => [column, sql<number>`${sql.ref(column)} + ${by}`]));

/** Keeps the exact totals in the transaction of the change. */
export const countIssue = async (
  tx: Tx,
  projectId: number,
  before: Counted,
  after: Counted,
): Promise<void> => {
  const steps = stepsOf(before, after);
  if (steps.length === 0) return;
  await tx.db
    .updateTable('project_counters')
    .set(settingOf(steps))
    .where('project_id', '=', projectId)
    .execute();
};

const nextIid = (issue: Counted) =>
  compiled((db, { project_id }: { project_id: number }) =>
    db
      .updateTable('project_counters')
      .set({ ...settingOf(stepsOf(null, issue)), issue_iid: sql<number>`issue_iid + 1` })
      .where('project_id', '=', project_id)
      .returning('issue_iid')
      .compile(),
  );

const takers = {
  opened: [nextIid({ state: 'opened', confidential: 0 }), nextIid({ state: 'opened', confidential: 1 })],
  closed: [nextIid({ state: 'closed', confidential: 0 }), nextIid({ state: 'closed', confidential: 1 })],
};

/** Counts a new issue and answers its iid: the next of its project, gapless under concurrency. */
export const takeIid = async (
  tx: Tx,
  project_id: number,
  { state, confidential }: NonNullable<Counted>,
): Promise<number> => {
  const [row] = (await takers[state][confidential === 1 ? 1 : 0]?.(tx.db, { project_id })) ?? [];
  if (row === undefined) throw new Error(`project ${project_id} has no counters`);
  return row.issue_iid;
};

/** Locks the counters of two projects, in an order that all who lock two keep to: else they wait for each other. */
export const lockCounters = async (tx: Tx, projectIds: [number, number]): Promise<void> => {
  await sql`select project_id from project_counters where project_id in (${sql.join(projectIds)})
    order by project_id ${tx.words.forUpdate}`.execute(tx.db);
};
