/** Addresses of the API with the types that client libraries decode their answers into. */
import assert from 'node:assert/strict';
import { sampleKeys } from '../../support/repositories/ssh_keys.ts';
import type { TestService } from '../../support/service.ts';

export type Row = {
  path: string;
  /** Type of the library of Go; `[]`: a list of them. */
  go: string;
  /** Class of the library of Java; null: it has none. */
  java: string | null;
};

export type Records = {
  project: string;
  group: string;
  user: string;
  issue: string;
  request: string;
  pipeline: number;
  job: number;
  sha: string;
  snippet: number;
  schedule: number;
  board: number;
};

const bridge = '/projects/workshop%2Fbridge';

const addresses: readonly (readonly [post: string, json: object])[] = [
  [`${bridge}/hooks`, { url: 'https://example.com/hook', token: 'x' }],
  [`${bridge}/variables`, { key: 'KEY', value: 'value' }],
  [`${bridge}/deploy_tokens`, { name: 'deploy', scopes: ['read_repository'] }],
  [`${bridge}/access_tokens`, { name: 'robot', scopes: ['api'], access_level: 30, expires_at: '2099-01-01' }],
  [`${bridge}/triggers`, { description: 'from outside' }],
  [`${bridge}/badges`, { link_url: 'https://example.com/', image_url: 'https://example.com/badge.svg' }],
  [`${bridge}/protected_tags`, { name: 'v*' }],
  [`${bridge}/star`, {}],
  [`${bridge}/boards`, { name: 'Board' }],
  [`${bridge}/snippets`, { title: 'S', visibility: 'public', files: [{ file_path: 'a.txt', content: 'x' }] }],
  [`${bridge}/pipeline_schedules`, { description: 'nightly', ref: 'main', cron: '0 1 * * *' }],
  [`${bridge}/environments`, { name: 'staging', external_url: 'https://staging.example.com' }],
  [`${bridge}/invitations`, { email: 'someone@example.com', access_level: 30 }],
  [`${bridge}/issues/1/links`, { target_project_id: 'workshop/bridge', target_issue_iid: 2 }],
  [`${bridge}/issues/1/award_emoji`, { name: 'rocket' }],
  [`${bridge}/issues/1/add_spent_time`, { duration: '1h' }],
  [`${bridge}/merge_requests/1/approve`, {}],
  [`${bridge}/merge_requests/1/award_emoji`, { name: 'rocket' }],
  [`${bridge}/merge_requests/1/draft_notes`, { note: 'a draft' }],
  [`${bridge}/merge_requests/1/discussions`, { body: 'a thread' }],
  ['/groups/workshop/hooks', { url: 'https://example.com/hook' }],
  ['/groups/workshop/variables', { key: 'KEY', value: 'value' }],
  ['/groups/workshop/labels', { name: 'of the group', color: '#112233' }],
  ['/groups/workshop/milestones', { title: 'of the group' }],
  ['/groups/workshop/badges', { link_url: 'https://example.com/', image_url: 'https://example.com/b.svg' }],
  ['/groups/workshop/access_tokens', { name: 'robot', scopes: ['api'], expires_at: '2099-01-01' }],
  ['/groups/workshop/boards', { name: 'Board' }],
  ['/hooks', { url: 'https://example.com/hook' }],
  ['/admin/ci/variables', { key: 'KEY', value: 'value' }],
  ['/applications', { name: 'App', redirect_uri: 'https://example.com/', scopes: 'api' }],
  ['/broadcast_messages', { message: 'Hello' }],
  ['/topics', { name: 'wood', title: 'Wood' }],
  ['/user/emails', { email: 'root-too@example.com' }],
  [`${bridge}/issues/2/todo`, {}],
  ['/user/keys', { title: 'laptop', key: sampleKeys.rsa2048.text }],
  [`${bridge}/deploy_keys`, { title: 'server', key: sampleKeys.ed25519.text }],
];

/** Adds what the filled instance does not have. */
export const makeRecords = async (gantry: TestService): Promise<Records> => {
  for (const [path, json] of addresses) {
    const { status, text } = await gantry.api(`POST ${path}`, { json });
    assert.ok(status < 300, `${path}: ${text}`);
  }
  const { id } = (await gantry.api(`GET ${bridge}`)).body;
  const json = { runner_type: 'project_type', project_id: id };
  assert.equal((await gantry.api('POST /user/runners', { json })).status, 201);
  const one = async (path: string) => (await gantry.api(`GET ${path}`)).body[0];
  const sha = (await gantry.api(`GET ${bridge}/repository/branches/main`)).body.commit.id;
  const note = { json: { note: 'a comment' } };
  assert.equal((await gantry.api(`POST ${bridge}/repository/commits/${sha}/comments`, note)).status, 201);
  return {
    project: bridge,
    group: '/groups/workshop',
    user: `/users/${(await one('/users?username=ada')).id}`,
    issue: `${bridge}/issues/1`,
    request: `${bridge}/merge_requests/1`,
    pipeline: (await one(`${bridge}/pipelines`)).id,
    job: (await one(`${bridge}/jobs`)).id,
    sha,
    snippet: (await one(`${bridge}/snippets`)).id,
    schedule: (await one(`${bridge}/pipeline_schedules`)).id,
    board: (await one(`${bridge}/boards`)).id,
  };
};

const row = (path: string, go: string, java: string | null = go): Row => ({ path, go, java });

const instanceRows = (): Row[] => [
  row('/version', 'Version'),
  row('/metadata', 'Metadata'),
  row('/application/settings', 'Settings', 'ApplicationSettings'),
  row('/application/statistics', 'ApplicationStatistics', null),
  row('/applications', '[]Application'),
  row('/broadcast_messages', '[]BroadcastMessage', null),
  row('/admin/ci/variables', '[]InstanceVariable', '[]Variable'),
  row('/hooks', '[]Hook', '[]SystemHook'),
  row('/topics', '[]Topic'),
  row('/audit_events', '[]AuditEvent'),
  row('/namespaces', '[]Namespace'),
  row('/namespaces/workshop', 'Namespace'),
  row('/namespaces/workshop/exists', 'NamespaceExistance', 'Exists'),
  row('/avatar?email=a@example.com', 'Avatar', null),
  row('/events', '[]ContributionEvent', '[]Event'),
  row('/todos', '[]Todo'),
  row('/notification_settings', 'NotificationSettings'),
  row('/personal_access_tokens', '[]PersonalAccessToken'),
  row('/search?scope=projects&search=bridge', '[]Project'),
  row('/search?scope=issues&search=plank', '[]Issue'),
  row('/search?scope=users&search=ada', '[]User'),
];

const groupRows = ({ group }: Records): Row[] => [
  row('/groups', '[]Group'),
  row(group, 'Group'),
  row(`${group}/subgroups`, '[]Group'),
  row(`${group}/descendant_groups`, '[]Group'),
  row(`${group}/projects?include_subgroups=true`, '[]Project'),
  row(`${group}/members`, '[]GroupMember', '[]Member'),
  row(`${group}/members/all`, '[]GroupMember', '[]Member'),
  row(`${group}/issues`, '[]Issue'),
  row(`${group}/merge_requests`, '[]BasicMergeRequest', '[]MergeRequest'),
  row(`${group}/labels`, '[]GroupLabel', '[]Label'),
  row(`${group}/milestones`, '[]GroupMilestone', '[]Milestone'),
  row(`${group}/variables`, '[]GroupVariable', '[]Variable'),
  row(`${group}/hooks`, '[]GroupHook'),
  row(`${group}/badges`, '[]GroupBadge', '[]Badge'),
  row(`${group}/boards`, '[]GroupIssueBoard', '[]Board'),
  row(`${group}/access_tokens`, '[]GroupAccessToken'),
];

const userRows = ({ user }: Records): Row[] => [
  row('/user', 'User'),
  row('/users', '[]User'),
  row(user, 'User'),
  row(`${user}/status`, 'UserStatus', null),
  row(`${user}/memberships`, '[]UserMembership', '[]Membership'),
  row(`${user}/projects`, '[]Project'),
  row(`${user}/events`, '[]ContributionEvent', '[]Event'),
  row('/user/emails', '[]Email'),
  row('/user/keys', '[]SSHKey', '[]SshKey'),
];

const projectRows = ({ project, board, snippet }: Records): Row[] => [
  row('/projects', '[]Project'),
  row('/projects?simple=true', '[]Project'),
  row(project, 'Project'),
  row(`${project}?statistics=true&license=true`, 'Project'),
  row(`${project}/members`, '[]ProjectMember', '[]Member'),
  row(`${project}/members/all`, '[]ProjectMember', '[]Member'),
  row(`${project}/users`, '[]ProjectUser'),
  row(`${project}/groups`, '[]ProjectGroup'),
  row(`${project}/starrers`, '[]ProjectStarrer', null),
  row(`${project}/languages`, 'ProjectLanguages', null),
  row(`${project}/hooks`, '[]ProjectHook'),
  row(`${project}/variables`, '[]ProjectVariable', '[]Variable'),
  row(`${project}/deploy_tokens`, '[]DeployToken'),
  row(`${project}/deploy_keys`, '[]ProjectDeployKey', '[]DeployKey'),
  row(`${project}/access_tokens`, '[]ProjectAccessToken'),
  row(`${project}/badges`, '[]ProjectBadge', '[]Badge'),
  row(`${project}/protected_branches`, '[]ProtectedBranch'),
  row(`${project}/protected_tags`, '[]ProtectedTag'),
  row(`${project}/labels?with_counts=true`, '[]Label'),
  row(`${project}/milestones`, '[]Milestone'),
  row(`${project}/boards`, '[]IssueBoard', '[]Board'),
  row(`${project}/boards/${board}`, 'IssueBoard', 'Board'),
  row(`${project}/events`, '[]ContributionEvent', '[]Event'),
  row(`${project}/snippets`, '[]Snippet'),
  row(`${project}/snippets/${snippet}`, 'Snippet'),
  row(`${project}/releases`, '[]Release'),
  row(`${project}/releases/permalink/latest`, 'Release'),
  row(`${project}/invitations`, '[]PendingInvite', null),
  row(`${project}/notification_settings`, 'NotificationSettings'),
  row(`${project}/import`, 'ImportStatus'),
  row(`${project}/job_token_scope`, 'JobTokenAccessSettings', null),
  row(`${project}/job_token_scope/allowlist`, '[]Project'),
  row(`${project}/templates/licenses`, '[]ProjectTemplate', null),
  row(`${project}/search?scope=blobs&search=test`, '[]Blob', '[]SearchBlob'),
  row(`${project}/search?scope=commits&search=a`, '[]Commit'),
];

const codeRows = ({ project, sha }: Records): Row[] => {
  const code = `${project}/repository`;
  return [
    row(`${code}/branches`, '[]Branch'),
    row(`${code}/branches/main`, 'Branch'),
    row(`${code}/tags`, '[]Tag'),
    row(`${code}/commits?with_stats=true`, '[]Commit'),
    row(`${code}/commits/${sha}`, 'Commit'),
    row(`${code}/commits/${sha}/refs`, '[]CommitRef'),
    row(`${code}/commits/${sha}/diff`, '[]Diff'),
    row(`${code}/commits/${sha}/statuses`, '[]CommitStatus'),
    row(`${code}/commits/${sha}/comments`, '[]CommitComment', '[]Comment'),
    row(`${code}/compare?from=main&to=handrails`, 'Compare', 'CompareResults'),
    row(`${code}/contributors`, '[]Contributor'),
    row(`${code}/tree`, '[]TreeNode', '[]TreeItem'),
    row(`${code}/files/README.md?ref=main`, 'File', 'RepositoryFile'),
    row(`${code}/files/README.md/blame?ref=main`, '[]FileBlameRange', '[]Blame'),
    row(`${code}/merge_base?refs[]=main&refs[]=handrails`, 'Commit'),
  ];
};

const issueRows = ({ project, issue }: Records): Row[] => [
  row('/issues?scope=all', '[]Issue'),
  row(`${project}/issues`, '[]Issue'),
  row(issue, 'Issue'),
  row(`${issue}/notes`, '[]Note'),
  row(`${issue}/discussions`, '[]Discussion'),
  row(`${issue}/links`, '[]IssueRelation', '[]LinkedIssue'),
  row(`${issue}/award_emoji`, '[]AwardEmoji'),
  row(`${issue}/participants`, '[]BasicUser', '[]Participant'),
  row(`${issue}/time_stats`, 'TimeStats'),
  row(`${issue}/resource_label_events`, '[]LabelEvent'),
  row(`${project}/issues_statistics`, 'IssuesStatistics'),
  row(`${project}/issues/3/resource_state_events`, '[]StateEvent', '[]IssueEvent'),
];

const mergeRequestRows = ({ project, request }: Records): Row[] => [
  row('/merge_requests?scope=all', '[]BasicMergeRequest', '[]MergeRequest'),
  row(`${project}/merge_requests`, '[]BasicMergeRequest', '[]MergeRequest'),
  row(request, 'MergeRequest'),
  row(`${request}/changes`, 'MergeRequest'),
  row(`${request}/diffs`, '[]MergeRequestDiff', '[]Diff'),
  row(`${request}/versions`, '[]MergeRequestDiffVersion', '[]MergeRequestVersion'),
  row(`${request}/commits`, '[]Commit'),
  row(`${request}/notes`, '[]Note'),
  row(`${request}/discussions`, '[]Discussion'),
  row(`${request}/draft_notes`, '[]DraftNote', null),
  row(`${request}/approvals`, 'MergeRequestApprovals', 'MergeRequest'),
  row(`${request}/approval_state`, 'MergeRequestApprovalState', 'ApprovalState'),
  row(`${request}/pipelines`, '[]PipelineInfo', '[]Pipeline'),
  row(`${request}/participants`, '[]BasicUser', '[]Participant'),
  row(`${request}/reviewers`, '[]MergeRequestReviewer', null),
  row(`${request}/award_emoji`, '[]AwardEmoji'),
  row(`${request}/time_stats`, 'TimeStats'),
];

const ciRows = ({ project, pipeline, job, schedule }: Records): Row[] => [
  row(`${project}/pipelines`, '[]PipelineInfo', '[]Pipeline'),
  row(`${project}/pipelines/${pipeline}`, 'Pipeline'),
  row(`${project}/pipelines/latest`, 'Pipeline'),
  row(`${project}/pipelines/${pipeline}/jobs`, '[]Job'),
  row(`${project}/pipelines/${pipeline}/test_report`, 'PipelineTestReport', null),
  row(`${project}/pipelines/${pipeline}/test_report_summary`, 'PipelineTestReportSummary', null),
  row(`${project}/jobs`, '[]Job'),
  row(`${project}/jobs/${job}`, 'Job'),
  row(`${project}/environments`, '[]Environment'),
  row(`${project}/pipeline_schedules`, '[]PipelineSchedule'),
  row(`${project}/pipeline_schedules/${schedule}`, 'PipelineSchedule'),
  row(`${project}/triggers`, '[]PipelineTrigger', '[]Trigger'),
  row(`${project}/ci/lint`, 'ProjectLintResult', null),
  row(`${project}/runners`, '[]Runner'),
  row('/runners/all', '[]Runner'),
];

export const answerRows = (records: Records): Row[] => [
  ...instanceRows(),
  ...groupRows(records),
  ...userRows(records),
  ...projectRows(records),
  ...codeRows(records),
  ...issueRows(records),
  ...mergeRequestRows(records),
  ...ciRows(records),
];
