/** The tables that a restored project gets rows of, in the order in which their rows refer to each other. */
import {
  type Rule,
  author,
  certainUser,
  cleared,
  discussion,
  endedStatus,
  environmentState,
  knownUser,
  mentioningNote,
  mentioningProject,
  mentioningRecord,
  mergeRequestState,
  mergeStatus,
  ofProject,
  optionalRowOf,
  optionalUser,
  rowOf,
  sourceProject,
  target,
  text,
  uploadSecret,
  zero,
} from './column_rules.ts';

export type TableSpec = {
  name: string;
  /** SQL condition of the backup's rows; `?1` is the old id of the project. */
  where: string;
  /** Rules of columns; others are taken as they are. */
  columns: { [column: string]: Rule };
  /** Ids of rows that come later or of the same table, set when all are there; by column, the table. */
  later?: { [column: string]: string };
  /** Encrypted by the secrets of the instance: restored where those are the same. */
  isSealed?: boolean;
};

const project = 'project_id = ?1';
const issues = '(select id from issues where project_id = ?1 and deleted_at is null)';
const requests = '(select id from merge_requests where project_id = ?1 and deleted_at is null)';
const ofTargets = `((target_type = 'Issue' and target_id in ${issues})
  or (target_type = 'MergeRequest' and target_id in ${requests}))`;
const ofRequests = `merge_request_id in ${requests}`;
const versions = `(select id from merge_request_diffs where ${ofRequests})`;
const ofTable = (column: string, table: string): string =>
  `${column} in (select id from ${table} where project_id = ?1)`;

const planning: TableSpec[] = [
  { name: 'labels', where: project, columns: { project_id: ofProject } },
  { name: 'milestones', where: project, columns: { project_id: ofProject, description: text } },
  {
    name: 'issues',
    where: `${project} and deleted_at is null`,
    columns: {
      project_id: ofProject,
      description: text,
      author_id: author,
      milestone_id: optionalRowOf('milestones'),
      closed_by_id: optionalUser,
      moved_to_id: cleared,
      relative_position: cleared,
    },
  },
  {
    name: 'merge_requests',
    where: `${project} and deleted_at is null`,
    columns: {
      project_id: ofProject,
      source_project_id: sourceProject,
      description: text,
      state: mergeRequestState,
      author_id: author,
      milestone_id: optionalRowOf('milestones'),
      merge_status: mergeStatus,
      merge_when_pipeline_succeeds: zero,
      merge_user_id: cleared,
      rebase_in_progress: zero,
      merged_by_id: optionalUser,
      closed_by_id: optionalUser,
      diff_id: cleared,
    },
    later: { diff_id: 'merge_request_diffs' },
  },
  {
    name: 'merge_request_diffs',
    where: ofRequests,
    columns: { merge_request_id: rowOf('merge_requests'), pushed_by_id: optionalUser },
  },
  {
    name: 'merge_request_diff_texts',
    where: `diff_id in ${versions}`,
    columns: { diff_id: rowOf('merge_request_diffs') },
  },
  {
    name: 'merge_request_commits',
    where: `diff_id in ${versions}`,
    columns: { diff_id: rowOf('merge_request_diffs') },
  },
  {
    name: 'notes',
    where: project,
    columns: {
      project_id: ofProject,
      target_id: target,
      author_id: author,
      body: text,
      discussion_id: discussion,
      resolved_by_id: optionalUser,
      mentioned_by_id: mentioningRecord,
      mentioned_by_project_id: mentioningProject,
    },
  },
  {
    name: 'label_links',
    where: ofTargets,
    columns: { target_id: target, label_id: rowOf('labels') },
  },
  { name: 'assignees', where: ofTargets, columns: { target_id: target, user_id: knownUser } },
  { name: 'reviewers', where: ofTargets, columns: { target_id: target, user_id: knownUser } },
  {
    name: 'mentions',
    where: ofTargets,
    columns: { target_id: target, note_id: mentioningNote, user_id: knownUser },
  },
  {
    name: 'award_emoji',
    where: `(${ofTargets} or (target_type = 'Note' and ${ofTable('target_id', 'notes')}))`,
    columns: { target_id: target, user_id: knownUser },
  },
  {
    name: 'subscriptions',
    where: `(${ofTargets} or (target_type = 'Label' and ${ofTable('target_id', 'labels')}))`,
    columns: { target_id: target, user_id: knownUser },
  },
  { name: 'timelogs', where: ofTargets, columns: { target_id: target, user_id: author } },
  {
    name: 'resource_events',
    where: ofTargets,
    columns: {
      target_id: target,
      user_id: optionalUser,
      label_id: optionalRowOf('labels'),
      milestone_id: optionalRowOf('milestones'),
    },
  },
  { name: 'user_agent_details', where: ofTargets, columns: { target_id: target } },
  {
    name: 'issue_search',
    where: `issue_id in ${issues}`,
    columns: { issue_id: rowOf('issues'), indexed: zero },
  },
  {
    name: 'issue_links',
    where: `source_id in ${issues} and target_id in ${issues}`,
    columns: { source_id: rowOf('issues'), target_id: rowOf('issues') },
  },
  {
    name: 'boards',
    where: project,
    columns: {
      project_id: ofProject,
      milestone_id: optionalRowOf('milestones'),
      assignee_id: optionalUser,
    },
  },
  {
    name: 'board_labels',
    where: ofTable('board_id', 'boards'),
    columns: { board_id: rowOf('boards'), label_id: rowOf('labels') },
  },
  {
    name: 'board_lists',
    where: ofTable('board_id', 'boards'),
    columns: {
      board_id: rowOf('boards'),
      label_id: rowOf('labels'),
      milestone_id: rowOf('milestones'),
      assignee_id: (value, row, restored) => (value === null ? null : knownUser(value, row, restored)),
    },
  },
];

const review: TableSpec[] = [
  {
    name: 'merge_request_search',
    where: ofRequests,
    columns: { merge_request_id: rowOf('merge_requests'), indexed: zero },
  },
  {
    name: 'merge_request_approvals',
    where: ofRequests,
    columns: { merge_request_id: rowOf('merge_requests'), user_id: knownUser },
  },
  {
    name: 'merge_request_viewed_files',
    where: ofRequests,
    columns: { merge_request_id: rowOf('merge_requests'), user_id: knownUser },
  },
  {
    name: 'applied_suggestions',
    where: ofTable('note_id', 'notes'),
    columns: { note_id: rowOf('notes') },
  },
  {
    name: 'draft_notes',
    where: ofRequests,
    columns: {
      merge_request_id: rowOf('merge_requests'),
      author_id: certainUser,
      note: text,
      discussion_id: discussion,
    },
  },
  {
    name: 'merge_requests_closing_issues',
    where: `${ofRequests} and issue_id in ${issues}`,
    columns: { merge_request_id: rowOf('merge_requests'), issue_id: rowOf('issues') },
  },
];

const code: TableSpec[] = [
  { name: 'protected_branches', where: project, columns: { project_id: ofProject } },
  { name: 'protected_tags', where: project, columns: { project_id: ofProject } },
  {
    name: 'releases',
    where: project,
    columns: { project_id: ofProject, author_id: optionalUser, description: text },
  },
  {
    name: 'release_milestones',
    where: ofTable('release_id', 'releases'),
    columns: { release_id: rowOf('releases'), milestone_id: rowOf('milestones') },
  },
  {
    name: 'release_links',
    where: ofTable('release_id', 'releases'),
    columns: { release_id: rowOf('releases') },
  },
  {
    name: 'snippets',
    where: project,
    columns: { project_id: ofProject, author_id: author, description: text },
  },
  { name: 'badges', where: project, columns: { project_id: ofProject } },
  { name: 'project_stars', where: project, columns: { project_id: ofProject, user_id: knownUser } },
  {
    name: 'commit_comments',
    where: project,
    columns: { project_id: ofProject, author_id: author, note: text, discussion_id: discussion },
  },
];

const ci: TableSpec[] = [
  {
    name: 'pipeline_schedules',
    where: project,
    columns: {
      project_id: ofProject,
      owner_id: optionalUser,
      active: zero,
      next_run_at: cleared,
      last_pipeline_id: cleared,
    },
    later: { last_pipeline_id: 'pipelines' },
  },
  {
    name: 'pipeline_schedule_variables',
    where: ofTable('schedule_id', 'pipeline_schedules'),
    columns: { schedule_id: rowOf('pipeline_schedules') },
    isSealed: true,
  },
  {
    name: 'environments',
    where: project,
    columns: { project_id: ofProject, state: environmentState, auto_stop_at: cleared },
  },
  { name: 'resource_groups', where: project, columns: { project_id: ofProject, job_id: cleared } },
  { name: 'job_configs', where: project, columns: { project_id: ofProject } },
  {
    name: 'pipelines',
    where: project,
    columns: {
      project_id: ofProject,
      status: endedStatus,
      user_id: optionalUser,
      merge_request_id: optionalRowOf('merge_requests'),
      source_pipeline_id: cleared,
      source_job_id: cleared,
      root_id: cleared,
      schedule_id: optionalRowOf('pipeline_schedules'),
    },
    later: { source_pipeline_id: 'pipelines', source_job_id: 'jobs', root_id: 'pipelines' },
  },
  {
    name: 'pipeline_variables',
    where: ofTable('pipeline_id', 'pipelines'),
    columns: { pipeline_id: rowOf('pipelines') },
    isSealed: true,
  },
  {
    name: 'stages',
    where: ofTable('pipeline_id', 'pipelines'),
    columns: { pipeline_id: rowOf('pipelines'), status: endedStatus },
  },
  {
    name: 'jobs',
    where: project,
    columns: {
      project_id: ofProject,
      pipeline_id: rowOf('pipelines'),
      stage_id: rowOf('stages'),
      status: endedStatus,
      retry_of_id: cleared,
      mirrored_pipeline_id: cleared,
      user_id: optionalUser,
      runner_id: cleared,
      config_id: rowOf('job_configs'),
      token_hash: cleared,
      erased_by_id: optionalUser,
    },
    later: { retry_of_id: 'jobs', mirrored_pipeline_id: 'pipelines' },
  },
  {
    name: 'job_dependencies',
    where: ofTable('job_id', 'jobs'),
    columns: { job_id: rowOf('jobs'), dependency_id: rowOf('jobs') },
  },
  { name: 'job_needs', where: ofTable('job_id', 'jobs'), columns: { job_id: rowOf('jobs') } },
  {
    name: 'job_variables',
    where: ofTable('job_id', 'jobs'),
    columns: { job_id: rowOf('jobs') },
    isSealed: true,
  },
  { name: 'artifacts', where: project, columns: { project_id: ofProject, job_id: rowOf('jobs') } },
  {
    name: 'deployments',
    where: project,
    columns: {
      project_id: ofProject,
      environment_id: rowOf('environments'),
      job_id: optionalRowOf('jobs'),
      user_id: optionalUser,
      status: endedStatus,
    },
  },
  {
    name: 'deployment_merge_requests',
    where: ofTable('deployment_id', 'deployments'),
    columns: { merge_request_id: rowOf('merge_requests'), deployment_id: rowOf('deployments') },
  },
  {
    name: 'commit_statuses',
    where: project,
    columns: { project_id: ofProject, author_id: author, pipeline_id: optionalRowOf('pipelines') },
  },
  {
    name: 'variables',
    where: "source_type = 'Project' and source_id = ?1",
    columns: { source_id: ofProject },
    isSealed: true,
  },
];

export const restoredTables: readonly TableSpec[] = [
  // Before milestones of groups get an iid in the project.
  { name: 'iid_sequences', where: project, columns: { project_id: ofProject } },
  // Before the texts that contain their addresses.
  {
    name: 'uploads',
    where: project,
    columns: { project_id: ofProject, user_id: optionalUser, secret: uploadSecret },
  },
  ...planning,
  ...review,
  ...code,
  ...ci,
  {
    name: 'members',
    where: "source_type = 'Project' and source_id = ?1",
    columns: { source_id: ofProject, user_id: certainUser, created_by_id: optionalUser },
  },
];
