import { sql } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';
import type { MergeRequestsTable } from '../db/schema_code.ts';

/** What of a merge request the totals of its target count; null for one that is not there (yet, or any more). */
export type Counted = Pick<MergeRequestsTable, 'state'> | null;

type Column = `${'opened' | 'closed' | 'merged'}_merge_requests`;

/** One that is being merged counts as open. */
const columnOf = (counted: Counted): Column | null => {
  if (counted === null) return null;
  return `${counted.state === 'locked' ? 'opened' : counted.state}_merge_requests`;
};

/** Keeps the exact totals in the transaction of the change. */
export const countMergeRequest = async (
  tx: Tx,
  projectId: number,
  before: Counted,
  after: Counted,
): Promise<void> => {
  const [was, is] = [columnOf(before), columnOf(after)];
  if (was === is) return;
  await tx.db
    .updateTable('project_counters')
    .set({
      ...(was !== null && { [was]: sql<number>`${sql.ref(was)} - 1` }),
      ...(is !== null && { [is]: sql<number>`${sql.ref(is)} + 1` }),
    })
    .where('project_id', '=', projectId)
    .execute();
};

const nextIid = compiled((db, { project_id }: { project_id: number }) =>
  db
    .updateTable('project_counters')
    .set({
      merge_request_iid: sql<number>`merge_request_iid + 1`,
      opened_merge_requests: sql<number>`opened_merge_requests + 1`,
    })
    .where('project_id', '=', project_id)
    .returning('merge_request_iid')
    .compile(),
);

/** Counts a new, open merge request and answers its iid: the next of its target, gapless under concurrency. */
export const takeIid = async (tx: Tx, project_id: number): Promise<number> => {
  const [row] = await nextIid(tx.db, { project_id });
  if (row === undefined) throw new Error(`project ${project_id} has no counters`);
  return row.merge_request_iid;
};
