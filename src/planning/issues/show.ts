import { sql } from 'kysely';
import { type Call, requireUser } from '../../core/access/call.ts';
import { canSeeIssue } from '../../core/access/visible.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import { notFound } from '../../platform/errors.ts';
import type { JsonText } from '../../platform/http/endpoint.ts';
import { type Version, withMembers } from '../issuables/lists/json_cache.ts';
import { findProject } from '../../projects/projects/find.ts';
import { followColumns, follows } from '../subscriptions/subscriptions.ts';
import { singleIssueExtras } from './json.ts';
import { closersCount } from './rows.ts';
import { limitToViewer } from './viewer_fields.ts';
import { issueTexts } from './lists/json_cache.ts';

/** The columns that decide whether the viewer sees the issue, and the values that depend on the viewer. */
type Row = Required<Version> & {
  author_id: number;
  confidential: number;
  deleted_at: number | null;
  /** 1: the viewer is an assignee. */
  assigned: number | null;
  subscription: number | null;
  participation: number | null;
};

const rowByIid = compiled(
  (db, { project_id, iid, user_id }: { project_id: number; iid: number; user_id: number }) => {
    const here = sql`target_type = 'Issue' and target_id = issues.id`;
    const { subscription, participation } = followColumns(here, sql`${user_id}`);
    return sql<Row>`
      select id, revision, author_id, confidential, deleted_at, ${closersCount} as merge_requests_count,
        (select 1 from assignees where ${here} and user_id = ${user_id}) as assigned,
        ${subscription} as subscription,
        case when author_id = ${user_id} then 1 else (${participation}) end as participation
      from issues where project_id = ${project_id} and iid = ${iid}`.compile(db);
  },
);

/** Returns the JSON of one issue as the caller sees it; 404 if they may not see it. */
export const showIssue = async (call: Call, projectId: number | string, iid: number): Promise<JsonText> => {
  const project = await findProject(call, projectId);
  const user_id = requireUser(call).id;
  const [row] = await rowByIid(call.db, { project_id: project.id, iid, user_id });
  if (row === undefined) throw notFound();
  const assignee_ids = row.assigned === 1 ? [user_id] : [];
  if (!canSeeIssue(call.viewer, project, { ...row, assignee_ids })) throw notFound();
  const [text] = await issueTexts(call, [limitToViewer(call.viewer, project, row)]);
  if (text === undefined) throw notFound();
  const subscribed = follows(row, row.author_id === user_id || row.assigned === 1);
  return withMembers(text, singleIssueExtras({ iid, project_id: project.id }, call, subscribed));
};
