import type { Ddl, MigrationText } from '../ddl_keywords.ts';
import { mergeRequestRevisionStatements } from './revision_triggers.ts';

const cascade = 'on delete cascade';

const mergeRequests = ({ id, text, integer, end }: Ddl): string[] => [
  `create table merge_requests (
    id ${id},
    project_id ${integer} not null references projects (id) ${cascade},
    source_project_id ${integer} references projects (id) on delete set null,
    iid ${integer} not null,
    title ${text} not null,
    description ${text},
    state ${text} not null,
    source_branch ${text} not null,
    target_branch ${text} not null,
    author_id ${integer} not null references users (id),
    milestone_id ${integer} references milestones (id) on delete set null,
    merge_status ${text} not null,
    checked_source_sha ${text},
    checked_target_sha ${text},
    diff_id ${integer},
    head_sha ${text},
    merge_commit_sha ${text},
    squash_commit_sha ${text},
    squash ${integer} not null default 0,
    merge_when_pipeline_succeeds ${integer} not null default 0,
    merge_user_id ${integer} references users (id) on delete set null,
    merge_params ${text} not null default '{}',
    should_remove_source_branch ${integer},
    force_remove_source_branch ${integer} not null default 0,
    rebase_in_progress ${integer} not null default 0,
    merge_error ${text},
    time_estimate ${integer} not null default 0,
    total_time_spent ${integer} not null default 0,
    user_notes_count ${integer} not null default 0,
    upvotes ${integer} not null default 0,
    downvotes ${integer} not null default 0,
    merged_at ${integer},
    merged_by_id ${integer} references users (id) on delete set null,
    closed_at ${integer},
    closed_by_id ${integer} references users (id) on delete set null,
    created_at ${integer} not null,
    updated_at ${integer} not null,
    deleted_at ${integer},
    revision ${integer} not null default 0
  ) ${end}`,
  'create unique index merge_requests_iid on merge_requests (project_id, iid)',
  'create index merge_requests_created on merge_requests (project_id, deleted_at, created_at, id)',
  'create index merge_requests_updated on merge_requests (project_id, deleted_at, updated_at, id)',
  'create index merge_requests_state_created on merge_requests (project_id, deleted_at, state, created_at, id)',
  'create index merge_requests_state_updated on merge_requests (project_id, deleted_at, state, updated_at, id)',
  'create index merge_requests_author on merge_requests (author_id, deleted_at, created_at, id)',
  'create index merge_requests_project_author on merge_requests (project_id, deleted_at, author_id, created_at, id)',
  'create index merge_requests_milestone on merge_requests (milestone_id, deleted_at, created_at, id)',
  'create index merge_requests_all_created on merge_requests (deleted_at, created_at, id)',
  'create index merge_requests_all_updated on merge_requests (deleted_at, updated_at, id)',
  'create index merge_requests_source on merge_requests (source_project_id, source_branch, state)',
  'create index merge_requests_target on merge_requests (project_id, target_branch, state)',
  // Lists by branch in the default order: across projects, and within one project.
  'create index merge_requests_source_branch on merge_requests (source_branch, deleted_at, created_at, id)',
  'create index merge_requests_project_source on merge_requests (project_id, deleted_at, source_branch, created_at, id)',
  'create index merge_requests_project_target on merge_requests (project_id, deleted_at, target_branch, created_at, id)',
  'create index merge_requests_merge_commit on merge_requests (project_id, merge_commit_sha) where merge_commit_sha is not null',
  'create index merge_requests_squash_commit on merge_requests (project_id, squash_commit_sha) where squash_commit_sha is not null',
  'create index merge_requests_head on merge_requests (project_id, head_sha)',
  'create index merge_requests_merge_user on merge_requests (merge_user_id) where merge_user_id is not null',
  'create index merge_requests_merged_by on merge_requests (merged_by_id) where merged_by_id is not null',
  'create index merge_requests_closed_by on merge_requests (closed_by_id) where closed_by_id is not null',
  // At most one open merge request for the same branches, also under concurrency.
  `create unique index merge_requests_open on merge_requests
    (source_project_id, source_branch, project_id, target_branch) where state = 'opened' and deleted_at is null`,
];

const versions = ({ id, text, integer, end }: Ddl): string[] => [
  `create table merge_request_diffs (
    id ${id},
    merge_request_id ${integer} not null references merge_requests (id) ${cascade},
    state ${text} not null,
    head_commit_sha ${text},
    base_commit_sha ${text},
    start_commit_sha ${text},
    real_size ${text},
    commits_count ${integer} not null,
    created_at ${integer} not null
  ) ${end}`,
  'create index merge_request_diffs_of on merge_request_diffs (merge_request_id, id)',
  // Long texts, read only when requested. JSON arrays.
  `create table merge_request_diff_texts (
    diff_id ${integer} primary key references merge_request_diffs (id) ${cascade},
    commits ${text} not null,
    diffs ${text} not null
  ) ${end}`,
  // Finds the merge requests that contain a commit.
  `create table merge_request_commits (
    diff_id ${integer} not null references merge_request_diffs (id) ${cascade},
    sha ${text} not null,
    position ${integer} not null,
    primary key (diff_id, position)
  ) ${end}`,
  'create index merge_request_commits_sha on merge_request_commits (sha)',
  `create table merge_request_approvals (
    merge_request_id ${integer} not null references merge_requests (id) ${cascade},
    user_id ${integer} not null references users (id) ${cascade},
    created_at ${integer} not null,
    primary key (merge_request_id, user_id)
  ) ${end}`,
  'create index merge_request_approvals_user on merge_request_approvals (user_id)',
];

const search = ({ engine, text, integer, end }: Ddl): string[] => [
  `create table merge_request_search (
    merge_request_id ${integer} primary key references merge_requests (id) ${cascade},
    title ${text} not null,
    description ${text} not null,
    indexed ${integer} not null default 0
  ) ${end}`,
  'create index merge_request_search_waiting on merge_request_search (merge_request_id) where indexed = 0',
  ...(engine === 'sqlite'
    ? [
        `create virtual table merge_request_search_index using fts5 (title, description, content = '',
          contentless_delete = 1, detail = full, tokenize = 'trigram case_sensitive 1')`,
      ]
    : []),
];

export const mergeRequestTables: MigrationText = {
  name: '0010_merge_requests',
  statements: (ddl) => [
    ...['opened', 'closed', 'merged'].map(
      (state) =>
        `alter table project_counters add column ${state}_merge_requests ${ddl.integer} not null default 0`,
    ),
    `alter table project_counters add column merge_requests_version ${ddl.integer} not null default 0`,
    ...mergeRequests(ddl),
    ...versions(ddl),
    ...search(ddl),
    'create index merge_requests_closing_issues_by on merge_requests_closing_issues (merge_request_id)',
    ...mergeRequestRevisionStatements(ddl.engine),
  ],
};
