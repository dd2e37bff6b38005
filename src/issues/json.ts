import type { Call, DatedSite } from '../access/call.ts';
import { array, bool, int, nullable, object, string, timestamp } from '../http/schema.ts';
import { milestoneJson, milestoneShape } from '../milestones/json.ts';
import { taskCounts, taskCountsShape } from '../issuables/tasks.ts';
import { timeStats, timeStatsShape } from '../time_tracking/json.ts';
import { formatTime } from '../time.ts';
import { basicUser, basicUserShape } from '../users/json.ts';
import type { FullIssue } from './rows.ts';

const user = basicUserShape;

const fields = {
  id: int,
  iid: int,
  project_id: int,
  title: string,
  description: nullable(string),
  state: string,
  created_at: timestamp,
  updated_at: timestamp,
  closed_at: nullable(timestamp),
  labels: array(string),
  milestone: nullable(milestoneShape),
  assignees: array(user),
  author: user,
  assignee: nullable(user),
  user_notes_count: int,
  upvotes: int,
  downvotes: int,
  due_date: nullable(string),
  confidential: bool,
  web_url: string,
  issue_type: string,
  type: string,
  closed_by: nullable(user),
  moved_to_id: nullable(int),
  discussion_locked: nullable(bool),
  task_completion_status: taskCountsShape,
  merge_requests_count: int,
};

const references = object({ short: string, relative: string, full: string });

/** An issue in a list. */
export const issueShape = object({ ...fields, time_stats: timeStatsShape, references });

const links = object({ self: string, notes: string, award_emoji: string, project: string });

/** One issue alone. */
export const singleIssueShape = object({
  ...fields,
  time_stats: timeStatsShape,
  references,
  _links: links,
  subscribed: bool,
});

/** An issue as the target of a todo. */
export const todoIssueShape = object({ ...fields, subscribed: bool });

export const issueUrl = (baseUrl: string, projectPath: string, iid: number): string =>
  `${baseUrl}/${projectPath}/issues/${iid}`;

const baseJson = (issue: FullIssue, site: DatedSite) => {
  const assignees = issue.assignees.map((one) => basicUser(one, site));
  return {
    id: issue.id,
    iid: issue.iid,
    project_id: issue.project_id,
    title: issue.title,
    description: issue.description,
    state: issue.state,
    created_at: formatTime(issue.created_at),
    updated_at: formatTime(issue.updated_at),
    closed_at: issue.closed_at === null ? null : formatTime(issue.closed_at),
    labels: issue.labels,
    milestone: issue.milestone === null ? null : milestoneJson(issue.milestone, site),
    assignees,
    author: basicUser(issue.author, site),
    assignee: assignees[0] ?? null,
    user_notes_count: issue.user_notes_count,
    upvotes: issue.upvotes,
    downvotes: issue.downvotes,
    due_date: issue.due_date,
    confidential: issue.confidential === 1,
    web_url: issueUrl(site.baseUrl, issue.project_path, issue.iid),
    // There is one kind of issue; typed clients fail on a record that does not name it.
    issue_type: 'issue',
    type: 'ISSUE',
    closed_by: issue.closed_by === null ? null : basicUser(issue.closed_by, site),
    moved_to_id: issue.moved_to_id,
    discussion_locked: null,
    task_completion_status: taskCounts(issue.description),
    merge_requests_count: issue.merge_requests_count,
  };
};

const referencesOf = ({ iid, project_path }: FullIssue) => ({
  short: `#${iid}`,
  relative: `#${iid}`,
  full: `${project_path}#${iid}`,
});

export const issueJson = (issue: FullIssue, site: DatedSite) => ({
  ...baseJson(issue, site),
  time_stats: timeStats(issue),
  references: referencesOf(issue),
});

/** What an issue alone has beside what it has in a list. */
export const singleIssueExtras = (
  { iid, project_id }: { iid: number; project_id: number },
  { baseUrl }: Pick<Call, 'baseUrl'>,
  subscribed: boolean,
) => {
  const project = `${baseUrl}/api/v4/projects/${project_id}`;
  const self = `${project}/issues/${iid}`;
  return {
    _links: { self, notes: `${self}/notes`, award_emoji: `${self}/award_emoji`, project },
    subscribed,
  };
};

export const singleIssueJson = (issue: FullIssue, site: DatedSite, subscribed: boolean) => ({
  ...issueJson(issue, site),
  ...singleIssueExtras(issue, site, subscribed),
});

export const todoIssueJson = (issue: FullIssue, site: DatedSite, subscribed: boolean) => ({
  ...baseJson(issue, site),
  subscribed,
});
