import { sql } from 'kysely';
import { may } from '../access/may.ts';
import type { Tx } from '../db/open.ts';
import { notFound } from '../errors.ts';
import type { Change, Noun, Target } from '../issuables/target.ts';
import { findIssue } from './find.ts';
import { issueUrl } from './json.ts';

const times = async (tx: Tx, { id }: Target) => {
  const { rows } = await sql<{ time_estimate: number; total_time_spent: number }>`
    select time_estimate, total_time_spent from issues
    where id = ${id} and deleted_at is null ${tx.words.forUpdate}`.execute(tx.db);
  const [row] = rows;
  if (row === undefined) throw notFound();
  return row;
};

const change = async (tx: Tx, { id, project_id }: Target, by: Change): Promise<void> => {
  await tx.db
    .updateTable('issues')
    .set({
      ...(by.user_notes_count !== undefined && {
        user_notes_count: sql<number>`user_notes_count + ${by.user_notes_count}`,
      }),
      ...(by.upvotes !== undefined && { upvotes: sql<number>`upvotes + ${by.upvotes}` }),
      ...(by.downvotes !== undefined && { downvotes: sql<number>`downvotes + ${by.downvotes}` }),
      ...(by.time_estimate !== undefined && { time_estimate: by.time_estimate }),
      ...(by.total_time_spent !== undefined && { total_time_spent: by.total_time_spent }),
      ...(by.updated_at !== undefined && {
        // It never goes back, even if the clock does.
        updated_at: sql<number>`case when updated_at < ${by.updated_at} then ${by.updated_at} else updated_at + 1 end`,
      }),
    })
    .where('id', '=', id)
    .execute();
  await tx.db
    .updateTable('project_counters')
    .set({ issues_version: sql<number>`issues_version + 1` })
    .where('project_id', '=', project_id)
    .execute();
};

/** Issues, for what they share with merge requests. */
export const issueNoun: Noun = {
  type: 'Issue',
  segment: 'issues',
  param: 'issue_iid',
  word: 'issue',
  find: findIssue,
  mayUpdate: (call, { project, target }) => may(call.viewer, 'update_issue', project, target),
  webUrl: (call, { project, target }) => issueUrl(call.baseUrl, project.full_path, target.iid),
  times,
  change,
};
