-- A freshly migrated database. Made by: npm run golden

CREATE TABLE activities (
  id integer primary key autoincrement,
  created_at integer not null,
  project_id integer not null references projects (id) on delete cascade,
  author_id integer not null references users (id) on delete cascade,
  action text not null,
  target_type text,
  target_id integer,
  subject_type text not null,
  subject_id integer,
  data text not null
) strict;

CREATE INDEX activities_author on activities (author_id, created_at, id, action, target_type);

CREATE INDEX activities_created on activities (created_at, id, project_id);

CREATE INDEX activities_project on activities (project_id, created_at, id, action, target_type);

CREATE INDEX activities_subject on activities (subject_type, subject_id) where subject_id is not null;

CREATE INDEX activities_target on activities (target_type, target_id) where target_type in ('Note', 'CommitComment');

CREATE TABLE answered_challenges (
  challenge_hash text primary key,
  answered_at integer not null
) strict;

CREATE INDEX answered_challenges_time on answered_challenges (answered_at);

CREATE TABLE applied_suggestions (
  note_id integer not null references notes (id) on delete cascade,
  position integer not null,
  commit_sha text not null,
  created_at integer not null,
  primary key (note_id, position)
) strict;

CREATE TABLE artifacts (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  job_id integer not null references jobs (id) on delete cascade,
  file_type text not null,
  file_format text not null,
  filename text not null,
  size integer not null,
  sha256 text not null,
  expire_at integer,
  created_at integer not null
) strict;

CREATE INDEX artifacts_expire on artifacts (expire_at) where expire_at is not null;

CREATE INDEX artifacts_of_project on artifacts (project_id, id, size);

CREATE INDEX artifacts_project on artifacts (project_id, sha256);

CREATE UNIQUE INDEX artifacts_type on artifacts (job_id, file_type);

CREATE TABLE assignees (
  target_type text not null,
  target_id integer not null,
  user_id integer not null references users (id) on delete cascade,
  position integer not null,
  target_created_at integer not null,
  primary key (target_type, target_id, user_id)
) strict, without rowid;

CREATE INDEX assignees_user on assignees (user_id, target_type, target_created_at, target_id);

CREATE TRIGGER assignees_delete_old after delete on assignees when old.target_type = 'Issue' begin update issues set revision = revision + 1 where id = old.target_id; end;

CREATE TRIGGER assignees_delete_old_of_merge_request after delete on assignees when old.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = old.target_id; end;

CREATE TRIGGER assignees_insert_new after insert on assignees when new.target_type = 'Issue' begin update issues set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER assignees_insert_new_of_merge_request after insert on assignees when new.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER assignees_update_new after update on assignees when new.target_type = 'Issue' begin update issues set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER assignees_update_new_of_merge_request after update on assignees when new.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER assignees_update_old after update on assignees when old.target_type = 'Issue' begin update issues set revision = revision + 1 where id = old.target_id; end;

CREATE TRIGGER assignees_update_old_of_merge_request after update on assignees when old.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = old.target_id; end;

CREATE TABLE audit_events (
  id integer primary key autoincrement,
  created_at integer not null,
  kind text not null,
  actor_id integer,
  sudo_by_id integer,
  target_type text,
  target_id integer,
  ip text not null,
  user_agent text not null,
  details text not null
) strict;

CREATE INDEX audit_events_actor on audit_events (actor_id, id);

CREATE INDEX audit_events_created on audit_events (created_at);

CREATE INDEX audit_events_kind on audit_events (kind, id);

CREATE INDEX audit_events_target on audit_events (target_type, target_id, id);

CREATE TABLE award_emoji (
  id integer primary key autoincrement,
  name text not null,
  user_id integer not null references users (id) on delete cascade,
  target_type text not null,
  target_id integer not null,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE UNIQUE INDEX award_emoji_once on award_emoji (target_type, target_id, user_id, name);

CREATE INDEX award_emoji_user on award_emoji (user_id, target_type, name, target_id);

CREATE TRIGGER award_emoji_delete_old after delete on award_emoji when old.target_type = 'Issue' begin update project_counters set issues_version = issues_version + 1 where project_id = (select project_id from issues where id = old.target_id); end;

CREATE TRIGGER award_emoji_delete_old_of_merge_request after delete on award_emoji when old.target_type = 'MergeRequest' begin update project_counters set merge_requests_version = merge_requests_version + 1 where project_id = (select project_id from merge_requests where id = old.target_id); end;

CREATE TRIGGER award_emoji_insert_new after insert on award_emoji when new.target_type = 'Issue' begin update project_counters set issues_version = issues_version + 1 where project_id = (select project_id from issues where id = new.target_id); end;

CREATE TRIGGER award_emoji_insert_new_of_merge_request after insert on award_emoji when new.target_type = 'MergeRequest' begin update project_counters set merge_requests_version = merge_requests_version + 1 where project_id = (select project_id from merge_requests where id = new.target_id); end;

CREATE TRIGGER award_emoji_update_new after update on award_emoji when new.target_type = 'Issue' begin update project_counters set issues_version = issues_version + 1 where project_id = (select project_id from issues where id = new.target_id); end;

CREATE TRIGGER award_emoji_update_new_of_merge_request after update on award_emoji when new.target_type = 'MergeRequest' begin update project_counters set merge_requests_version = merge_requests_version + 1 where project_id = (select project_id from merge_requests where id = new.target_id); end;

CREATE TRIGGER award_emoji_update_old after update on award_emoji when old.target_type = 'Issue' begin update project_counters set issues_version = issues_version + 1 where project_id = (select project_id from issues where id = old.target_id); end;

CREATE TRIGGER award_emoji_update_old_of_merge_request after update on award_emoji when old.target_type = 'MergeRequest' begin update project_counters set merge_requests_version = merge_requests_version + 1 where project_id = (select project_id from merge_requests where id = old.target_id); end;

CREATE TABLE backups (
  id integer primary key autoincrement,
  name text not null unique,
  destination text not null,
  holder text not null,
  started_at integer not null,
  held_until integer,
  finished_at integer,
  verified_at integer,
  bytes integer,
  error text,
  part text,
  part_done integer,
  part_total integer,
  part_at integer
) strict;

CREATE INDEX backups_holding on backups (held_until) where held_until is not null;

CREATE TABLE badges (
  id integer primary key autoincrement,
  project_id integer references projects (id) on delete cascade,
  group_id integer references namespaces (id) on delete cascade,
  name text,
  link_url text not null,
  image_url text not null,
  created_at integer not null,
  updated_at integer not null,
  check ((project_id is null) <> (group_id is null))
) strict;

CREATE INDEX badges_group on badges (group_id, id) where group_id is not null;

CREATE INDEX badges_project on badges (project_id, id) where project_id is not null;

CREATE TABLE board_labels (
  board_id integer not null references boards (id) on delete cascade,
  label_id integer not null references labels (id) on delete cascade,
  primary key (board_id, label_id)
) strict;

CREATE INDEX board_labels_label on board_labels (label_id);

CREATE TABLE board_lists (
  id integer primary key autoincrement,
  board_id integer not null references boards (id) on delete cascade,
  label_id integer references labels (id) on delete cascade,
  assignee_id integer references users (id) on delete cascade,
  milestone_id integer references milestones (id) on delete cascade,
  position integer not null,
  max_issue_count integer not null default 0,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE UNIQUE INDEX board_lists_assignee_id on board_lists (assignee_id, board_id) where assignee_id is not null;

CREATE INDEX board_lists_board on board_lists (board_id, position, id);

CREATE UNIQUE INDEX board_lists_label_id on board_lists (label_id, board_id) where label_id is not null;

CREATE UNIQUE INDEX board_lists_milestone_id on board_lists (milestone_id, board_id) where milestone_id is not null;

CREATE TABLE boards (
  id integer primary key autoincrement,
  project_id integer references projects (id) on delete cascade,
  group_id integer references namespaces (id) on delete cascade,
  name text not null,
  hide_backlog_list integer not null default 0,
  hide_closed_list integer not null default 0,
  milestone_id integer references milestones (id) on delete set null,
  assignee_id integer references users (id) on delete set null,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE INDEX boards_assignee on boards (assignee_id) where assignee_id is not null;

CREATE INDEX boards_group on boards (group_id, id) where group_id is not null;

CREATE INDEX boards_milestone on boards (milestone_id) where milestone_id is not null;

CREATE INDEX boards_project on boards (project_id, id) where project_id is not null;

CREATE TABLE bots (
  user_id integer primary key references users (id) on delete cascade,
  source_type text not null,
  source_id integer not null
) strict;

CREATE INDEX bots_source on bots (source_type, source_id);

CREATE TABLE broadcast_messages (
  id integer primary key autoincrement,
  message text not null,
  starts_at integer not null,
  ends_at integer not null,
  color text,
  font text,
  theme text not null,
  target_access_levels text not null,
  target_path text,
  broadcast_type text not null,
  dismissable integer not null,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE INDEX broadcast_messages_ends on broadcast_messages (ends_at);

CREATE TABLE byte_holds (
  project_id integer not null references projects (id) on delete cascade,
  sha256 text not null,
  holder text not null,
  kind text not null,
  created_at integer not null,
  primary key (project_id, sha256, holder)
) strict;

CREATE TABLE code_files (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  path text not null,
  blob_id text not null,
  content text,
  unique (project_id, path)
) strict;

CREATE TRIGGER code_files_deleted after delete on code_files begin delete from code_files_index where rowid = old.id; end;

CREATE TRIGGER code_files_inserted after insert on code_files begin insert into code_files_index (rowid, path, content) values (new.id, lower(new.path), lower(coalesce(new.content, ''))); end;

CREATE TRIGGER code_files_updated after update of path, content on code_files begin delete from code_files_index where rowid = old.id; insert into code_files_index (rowid, path, content) values (new.id, lower(new.path), lower(coalesce(new.content, ''))); end;

CREATE VIRTUAL TABLE code_files_index using fts5 (path, content, content = '', contentless_delete = 1, detail = full, tokenize = 'trigram case_sensitive 1');

CREATE TABLE code_indexes (
  project_id integer primary key references projects (id) on delete cascade,
  commit_id text not null
) strict;

CREATE TABLE commit_comments (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  sha text not null,
  author_id integer not null references users (id) on delete cascade,
  note text not null,
  path text,
  line integer,
  line_type text,
  created_at integer not null,
  discussion_id text,
  position text,
  updated_at integer
) strict;

CREATE INDEX commit_comments_author on commit_comments (author_id);

CREATE INDEX commit_comments_discussion on commit_comments (discussion_id) where discussion_id is not null;

CREATE INDEX commit_comments_sha on commit_comments (project_id, sha, id);

CREATE TABLE commit_statuses (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  sha text not null,
  ref text not null,
  name text not null,
  status text not null,
  target_url text,
  description text,
  coverage integer,
  allow_failure integer not null default 0,
  author_id integer not null references users (id) on delete cascade,
  created_at integer not null,
  started_at integer,
  finished_at integer,
  pipeline_id integer references pipelines (id) on delete cascade,
  retried integer not null default 0
) strict;

CREATE INDEX commit_statuses_author on commit_statuses (author_id);

CREATE INDEX commit_statuses_pipeline on commit_statuses (pipeline_id, retried, name) where pipeline_id is not null;

CREATE INDEX commit_statuses_sha on commit_statuses (project_id, sha, id);

CREATE TABLE deploy_key_projects (
  project_id integer not null references projects (id) on delete cascade,
  key_id integer not null references keys (id) on delete cascade,
  can_push integer not null,
  created_at integer not null,
  primary key (project_id, key_id)
) strict;

CREATE INDEX deploy_key_projects_key on deploy_key_projects (key_id, project_id);

CREATE TABLE deploy_tokens (
  id integer primary key autoincrement,
  project_id integer references projects (id) on delete cascade,
  group_id integer references namespaces (id) on delete cascade,
  name text not null,
  username text not null,
  token_hash text not null,
  scopes text not null,
  expires_at integer,
  created_at integer not null,
  last_used_at integer,
  last_used_ip text
) strict;

CREATE INDEX deploy_tokens_group on deploy_tokens (group_id, id) where group_id is not null;

CREATE UNIQUE INDEX deploy_tokens_hash on deploy_tokens (token_hash);

CREATE INDEX deploy_tokens_project on deploy_tokens (project_id, id) where project_id is not null;

CREATE TABLE deployment_merge_requests (
  merge_request_id integer not null references merge_requests (id) on delete cascade,
  deployment_id integer not null references deployments (id) on delete cascade,
  primary key (merge_request_id, deployment_id)
) strict;

CREATE INDEX deployment_merge_requests_deployment on deployment_merge_requests (deployment_id);

CREATE TABLE deployments (
  id integer primary key autoincrement,
  iid integer not null,
  project_id integer not null references projects (id) on delete cascade,
  environment_id integer not null references environments (id) on delete cascade,
  job_id integer references jobs (id) on delete set null,
  user_id integer references users (id) on delete set null,
  ref text not null,
  tag integer not null,
  sha text not null,
  status text not null,
  created_at integer not null,
  updated_at integer not null,
  finished_at integer
) strict;

CREATE INDEX deployments_environment on deployments (environment_id, id);

CREATE UNIQUE INDEX deployments_iid on deployments (project_id, iid);

CREATE INDEX deployments_job on deployments (job_id);

CREATE INDEX deployments_user on deployments (user_id);

CREATE TABLE draft_notes (
  id integer primary key autoincrement,
  merge_request_id integer not null references merge_requests (id) on delete cascade,
  author_id integer not null references users (id) on delete cascade,
  note text not null,
  discussion_id text,
  resolve_discussion integer not null default 0,
  position text,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE INDEX draft_notes_author on draft_notes (author_id, merge_request_id, id);

CREATE INDEX draft_notes_merge_request on draft_notes (merge_request_id);

CREATE TABLE emails (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  email text not null unique,
  confirmed_at integer,
  requested_at integer not null,
  mailed_at integer,
  created_at integer not null
) strict;

CREATE INDEX emails_user on emails (user_id);

CREATE TABLE environments (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  name text not null,
  slug text not null,
  external_url text,
  state text not null,
  tier text not null,
  description text,
  auto_stop_at integer,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE UNIQUE INDEX environments_name on environments (project_id, name);

CREATE INDEX environments_stop on environments (auto_stop_at) where auto_stop_at is not null;

CREATE TABLE events (
  id integer primary key autoincrement,
  created_at integer not null,
  actor_id integer,
  sudo_by_id integer,
  project_id integer,
  kind text not null,
  target_type text not null,
  target_id integer not null,
  data text not null
) strict;

CREATE INDEX events_refs on events (project_id, id) where kind in ('ref.created', 'ref.updated', 'ref.deleted');

CREATE TABLE git_operations (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  user_id integer references users (id) on delete set null,
  kind text not null,
  updates text not null,
  data text not null,
  process text not null,
  created_at integer not null
) strict;

CREATE INDEX git_operations_created on git_operations (created_at);

CREATE INDEX git_operations_project on git_operations (project_id);

CREATE INDEX git_operations_user on git_operations (user_id);

CREATE TABLE gpg_keys (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  key text not null,
  fingerprint text not null,
  primary_keyid text not null,
  users text not null,
  created_at integer not null
) strict;

CREATE UNIQUE INDEX gpg_keys_fingerprint on gpg_keys (fingerprint);

CREATE INDEX gpg_keys_user on gpg_keys (user_id, id);

CREATE TABLE gpg_signing_keys (
  id integer primary key autoincrement,
  gpg_key_id integer not null references gpg_keys (id) on delete cascade,
  keyid text not null,
  fingerprint text not null,
  is_primary integer not null,
  body text not null,
  ends_at integer,
  is_revoked integer not null
) strict;

CREATE INDEX gpg_signing_keys_gpg_key on gpg_signing_keys (gpg_key_id);

CREATE INDEX gpg_signing_keys_keyid on gpg_signing_keys (keyid);

CREATE TABLE group_links (
  id integer primary key autoincrement,
  source_type text not null,
  source_id integer not null,
  group_id integer not null references namespaces (id) on delete cascade,
  group_access integer not null,
  expires_at text,
  created_at integer not null
) strict;

CREATE INDEX group_links_group on group_links (group_id, source_type);

CREATE UNIQUE INDEX group_links_source on group_links (source_type, source_id, group_id);

CREATE TABLE hook_deliveries (
  id integer primary key autoincrement,
  hook_id integer not null references hooks (id) on delete cascade,
  hook_event_id integer not null references hook_events (id) on delete cascade,
  target text not null,
  attempts integer not null default 0,
  next_attempt_at integer not null
) strict;

CREATE INDEX hook_deliveries_event on hook_deliveries (hook_event_id);

CREATE INDEX hook_deliveries_target on hook_deliveries (hook_id, target, id);

CREATE TABLE hook_events (
  id integer primary key autoincrement,
  event_id integer,
  project_id integer,
  trigger_name text not null,
  uuid text not null,
  snapshot text not null,
  created_at integer not null
) strict;

CREATE INDEX hook_events_created on hook_events (created_at);

CREATE TABLE hook_logs (
  id integer primary key autoincrement,
  hook_id integer not null references hooks (id) on delete cascade,
  delivery_uuid text not null,
  event_uuid text not null,
  trigger_name text not null,
  event_name text not null,
  url text not null,
  request_headers text not null,
  request_data text not null,
  response_headers text not null,
  response_body text not null,
  response_status integer,
  error text,
  execution_duration integer not null,
  created_at integer not null
) strict;

CREATE INDEX hook_logs_created on hook_logs (created_at);

CREATE INDEX hook_logs_hook on hook_logs (hook_id, id);

CREATE TABLE hooks (
  id integer primary key autoincrement,
  project_id integer references projects (id) on delete cascade,
  group_id integer references namespaces (id) on delete cascade,
  url text not null,
  name text,
  description text,
  push_events integer not null,
  tag_push_events integer not null,
  issues_events integer not null,
  confidential_issues_events integer not null,
  merge_requests_events integer not null,
  note_events integer not null,
  confidential_note_events integer not null,
  job_events integer not null,
  pipeline_events integer not null,
  wiki_page_events integer not null,
  deployment_events integer not null,
  releases_events integer not null,
  member_events integer not null,
  emoji_events integer not null,
  feature_flag_events integer not null,
  repository_update_events integer not null,
  enable_ssl_verification integer not null,
  push_events_branch_filter text,
  branch_filter_strategy text not null,
  custom_webhook_template text,
  sealed_token text,
  sealed_signing_token text,
  sealed_url_variables text,
  sealed_custom_headers text,
  uuid text not null,
  failures integer not null default 0,
  disabled_until integer,
  created_at integer not null,
  updated_at integer not null,
  format text not null default 'json',
  failing_since integer,
  integration text,
  check (project_id is null or group_id is null)
) strict;

CREATE INDEX hooks_failing on hooks (id) where failures > 0;

CREATE INDEX hooks_group on hooks (group_id, id) where group_id is not null;

CREATE INDEX hooks_project on hooks (project_id, id) where project_id is not null;

CREATE INDEX hooks_system on hooks (id) where project_id is null and group_id is null;

CREATE TABLE iid_sequences (
  project_id integer not null references projects (id) on delete cascade,
  kind text not null,
  last integer not null,
  primary key (project_id, kind)
) strict;

CREATE TABLE instance (
  name text primary key,
  value text not null
) strict;

CREATE TABLE integrations (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  slug text not null,
  active integer not null,
  properties text not null,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE UNIQUE INDEX integrations_slug on integrations (project_id, slug);

CREATE TABLE invitations (
  id integer primary key autoincrement,
  source_type text not null,
  source_id integer not null,
  email text not null,
  access_level integer not null,
  expires_at text,
  created_by_id integer,
  created_at integer not null,
  mailed_at integer,
  mail_error text
) strict;

CREATE INDEX invitations_email on invitations (email);

CREATE UNIQUE INDEX invitations_source on invitations (source_type, source_id, email);

CREATE TABLE issue_links (
  id integer primary key autoincrement,
  source_id integer not null references issues (id) on delete cascade,
  target_id integer not null references issues (id) on delete cascade,
  link_type text not null,
  created_at integer not null,
  updated_at integer not null,
  unique (source_id, target_id)
) strict;

CREATE INDEX issue_links_target on issue_links (target_id);

CREATE TABLE issue_search (
  issue_id integer primary key references issues (id) on delete cascade,
  title text not null,
  description text not null,
  indexed integer not null default 0
) strict;

CREATE INDEX issue_search_waiting on issue_search (issue_id) where indexed = 0;

CREATE VIRTUAL TABLE issue_search_index using fts5 (title, description, content = '', contentless_delete = 1, detail = full, tokenize = 'trigram case_sensitive 1');

CREATE TABLE issues (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  iid integer not null,
  title text not null,
  description text,
  state text not null,
  author_id integer not null references users (id),
  milestone_id integer references milestones (id) on delete set null,
  confidential integer not null,
  due_date text,
  time_estimate integer not null default 0,
  total_time_spent integer not null default 0,
  user_notes_count integer not null default 0,
  upvotes integer not null default 0,
  downvotes integer not null default 0,
  moved_to_id integer,
  closed_at integer,
  closed_by_id integer,
  created_at integer not null,
  updated_at integer not null,
  deleted_at integer,
  revision integer not null default 0,
  discussion_locked integer,
  relative_position integer,
  last_edited_at integer,
  last_edited_by_id integer
) strict;

CREATE INDEX issues_all_created on issues (deleted_at, created_at, id);

CREATE INDEX issues_all_position on issues (deleted_at, (coalesce(relative_position, id * 1048576)), id);

CREATE INDEX issues_all_updated on issues (deleted_at, updated_at, id, project_id, state, confidential);

CREATE INDEX issues_author on issues (author_id, deleted_at, created_at, id);

CREATE INDEX issues_closed_by on issues (closed_by_id) where closed_by_id is not null;

CREATE INDEX issues_confidential on issues (project_id, author_id) where confidential = 1;

CREATE INDEX issues_created on issues (project_id, deleted_at, created_at, id, confidential);

CREATE INDEX issues_due on issues (due_date, id) where due_date is not null and state = 'opened' and deleted_at is null;

CREATE INDEX issues_due_day on issues (project_id, deleted_at, (coalesce(due_date, '9999-99-99')), id desc, state, due_date, confidential, author_id);

CREATE UNIQUE INDEX issues_iid on issues (project_id, iid);

CREATE INDEX issues_linked on issues (id, deleted_at, project_id, state, confidential) where id > 0;

CREATE INDEX issues_milestone on issues (milestone_id, deleted_at, created_at, id, project_id, state, confidential);

CREATE INDEX issues_position on issues (project_id, deleted_at, (coalesce(relative_position, id * 1048576)), id);

CREATE INDEX issues_project_author on issues (project_id, deleted_at, author_id, created_at, id);

CREATE INDEX issues_project_due on issues (project_id, deleted_at, due_date, state, created_at, updated_at, id, confidential, author_id) where due_date is not null;

CREATE INDEX issues_state_created on issues (project_id, deleted_at, state, created_at, id, confidential);

CREATE INDEX issues_state_position on issues (project_id, deleted_at, state, (coalesce(relative_position, id * 1048576)), id);

CREATE INDEX issues_state_updated on issues (project_id, deleted_at, state, updated_at, id, confidential);

CREATE INDEX issues_title on issues (project_id, deleted_at, (lower(title)), id, state, confidential, author_id);

CREATE INDEX issues_updated on issues (project_id, deleted_at, updated_at, id, confidential);

CREATE INDEX issues_upvotes on issues (project_id, deleted_at, upvotes, id, state, milestone_id, confidential, author_id);

CREATE TRIGGER issues_counted_delete after delete on issues begin update project_counters set opened_issues = opened_issues - (case when old.deleted_at is null and old.state = 'opened' then 1 else 0 end), closed_issues = closed_issues - (case when old.deleted_at is null and old.state = 'closed' then 1 else 0 end), opened_confidential_issues = opened_confidential_issues - (case when old.deleted_at is null and old.state = 'opened' and old.confidential = 1 then 1 else 0 end), closed_confidential_issues = closed_confidential_issues - (case when old.deleted_at is null and old.state = 'closed' and old.confidential = 1 then 1 else 0 end) where project_id = old.project_id; insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select label_id, old.project_id, - (case when old.deleted_at is null and old.state = 'opened' then 1 else 0 end), - (case when old.deleted_at is null and old.state = 'closed' then 1 else 0 end), - (case when old.deleted_at is null and old.state = 'opened' and old.confidential = 1 then 1 else 0 end), - (case when old.deleted_at is null and old.state = 'closed' and old.confidential = 1 then 1 else 0 end), 0 from label_links where target_type = 'Issue' and target_id = old.id on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; end;

CREATE TRIGGER issues_counted_insert after insert on issues begin update project_counters set opened_issues = opened_issues + (case when new.deleted_at is null and new.state = 'opened' then 1 else 0 end), closed_issues = closed_issues + (case when new.deleted_at is null and new.state = 'closed' then 1 else 0 end), opened_confidential_issues = opened_confidential_issues + (case when new.deleted_at is null and new.state = 'opened' and new.confidential = 1 then 1 else 0 end), closed_confidential_issues = closed_confidential_issues + (case when new.deleted_at is null and new.state = 'closed' and new.confidential = 1 then 1 else 0 end) where project_id = new.project_id; end;

CREATE TRIGGER issues_counted_update after update of state, confidential, deleted_at on issues when new.state is not old.state or new.confidential is not old.confidential or new.deleted_at is not old.deleted_at begin update project_counters set opened_issues = opened_issues + (case when new.deleted_at is null and new.state = 'opened' then 1 else 0 end) - (case when old.deleted_at is null and old.state = 'opened' then 1 else 0 end), closed_issues = closed_issues + (case when new.deleted_at is null and new.state = 'closed' then 1 else 0 end) - (case when old.deleted_at is null and old.state = 'closed' then 1 else 0 end), opened_confidential_issues = opened_confidential_issues + (case when new.deleted_at is null and new.state = 'opened' and new.confidential = 1 then 1 else 0 end) - (case when old.deleted_at is null and old.state = 'opened' and old.confidential = 1 then 1 else 0 end), closed_confidential_issues = closed_confidential_issues + (case when new.deleted_at is null and new.state = 'closed' and new.confidential = 1 then 1 else 0 end) - (case when old.deleted_at is null and old.state = 'closed' and old.confidential = 1 then 1 else 0 end) where project_id = new.project_id; insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select label_id, new.project_id, + (case when new.deleted_at is null and new.state = 'opened' then 1 else 0 end) - (case when old.deleted_at is null and old.state = 'opened' then 1 else 0 end), + (case when new.deleted_at is null and new.state = 'closed' then 1 else 0 end) - (case when old.deleted_at is null and old.state = 'closed' then 1 else 0 end), + (case when new.deleted_at is null and new.state = 'opened' and new.confidential = 1 then 1 else 0 end) - (case when old.deleted_at is null and old.state = 'opened' and old.confidential = 1 then 1 else 0 end), + (case when new.deleted_at is null and new.state = 'closed' and new.confidential = 1 then 1 else 0 end) - (case when old.deleted_at is null and old.state = 'closed' and old.confidential = 1 then 1 else 0 end), 0 from label_links where target_type = 'Issue' and target_id = new.id on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; end;

CREATE TRIGGER issues_delete_old after delete on issues begin update project_counters set issues_version = issues_version + 1 where project_id = old.project_id; end;

CREATE TRIGGER issues_insert_new after insert on issues begin update project_counters set issues_version = issues_version + 1 where project_id = new.project_id; end;

CREATE TRIGGER issues_revised after update on issues when new.revision = old.revision begin update issues set revision = revision + 1 where id = new.id; end;

CREATE TRIGGER issues_update_new after update on issues when new.revision <> old.revision begin update project_counters set issues_version = issues_version + 1 where project_id = new.project_id; end;

CREATE TABLE job_configs (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  digest text not null,
  config text not null
) strict;

CREATE UNIQUE INDEX job_configs_digest on job_configs (project_id, digest);

CREATE TABLE job_dependencies (
  job_id integer not null references jobs (id) on delete cascade,
  dependency_id integer not null references jobs (id) on delete cascade,
  primary key (job_id, dependency_id)
) strict;

CREATE INDEX job_dependencies_dependency on job_dependencies (dependency_id);

CREATE TABLE job_needs (
  job_id integer not null references jobs (id) on delete cascade,
  name text not null,
  artifacts integer not null,
  optional integer not null,
  primary key (job_id, name)
) strict;

CREATE TABLE job_token_groups (
  project_id integer not null references projects (id) on delete cascade,
  target_group_id integer not null references namespaces (id) on delete cascade,
  created_at integer not null,
  primary key (project_id, target_group_id)
) strict;

CREATE INDEX job_token_groups_target on job_token_groups (target_group_id);

CREATE TABLE job_token_projects (
  project_id integer not null references projects (id) on delete cascade,
  target_project_id integer not null references projects (id) on delete cascade,
  created_at integer not null,
  primary key (project_id, target_project_id)
) strict;

CREATE INDEX job_token_projects_target on job_token_projects (target_project_id);

CREATE TABLE job_variables (
  job_id integer not null references jobs (id) on delete cascade,
  key text not null,
  sealed_value text not null,
  source text not null,
  primary key (job_id, key)
) strict;

CREATE TABLE jobs (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  pipeline_id integer not null references pipelines (id) on delete cascade,
  stage_id integer not null references stages (id) on delete cascade,
  stage text not null,
  stage_position integer not null,
  name text not null,
  ref text not null,
  tag integer not null,
  status text not null,
  run_when text not null,
  allow_failure integer not null,
  by_needs integer not null default 0,
  retried integer not null default 0,
  retry_of_id integer,
  protected integer not null,
  interruptible integer not null default 0,
  user_id integer references users (id) on delete set null,
  runner_id integer,
  system_id text,
  config_id integer not null references job_configs (id),
  tag_list text not null default '[]',
  token_hash text,
  environment text,
  resource_group text,
  coverage integer,
  failure_reason text,
  exit_code integer,
  timeout integer,
  created_at integer not null,
  updated_at integer not null,
  queued_at integer,
  scheduled_at integer,
  started_at integer,
  finished_at integer,
  seen_at integer,
  cancelled_at integer,
  erased_at integer,
  erased_by_id integer references users (id) on delete set null,
  artifacts_expire_at integer,
  trace_size integer,
  trace_crc integer,
  bridge integer not null default 0,
  debug_trace integer not null default 0,
  mirrored_pipeline_id integer references pipelines (id) on delete set null,
  downstream_errors text,
  cancels_gracefully integer not null default 0,
  trace_key text
) strict;

CREATE INDEX jobs_bridge on jobs (project_id, status, id) where bridge = 1;

CREATE INDEX jobs_bridge_open on jobs (status, id) where bridge = 1 and status in ('pending', 'running', 'manual');

CREATE INDEX jobs_config on jobs (config_id);

CREATE INDEX jobs_erased_by on jobs (erased_by_id) where erased_by_id is not null;

CREATE INDEX jobs_mirrored on jobs (mirrored_pipeline_id, id) where mirrored_pipeline_id is not null;

CREATE INDEX jobs_pipeline on jobs (pipeline_id, stage_position, id);

CREATE INDEX jobs_pipeline_name on jobs (pipeline_id, name, id);

CREATE INDEX jobs_project on jobs (project_id, id);

CREATE INDEX jobs_project_status on jobs (project_id, status, id);

CREATE INDEX jobs_runner on jobs (runner_id, id) where runner_id is not null;

CREATE INDEX jobs_running on jobs (status, seen_at) where status in ('running', 'canceling');

CREATE INDEX jobs_scheduled on jobs (scheduled_at) where status = 'scheduled';

CREATE INDEX jobs_stage on jobs (stage_id);

CREATE UNIQUE INDEX jobs_token on jobs (token_hash) where token_hash is not null;

CREATE INDEX jobs_user on jobs (user_id);

CREATE TABLE keys (
  id integer primary key autoincrement,
  user_id integer references users (id) on delete cascade,
  title text not null,
  type text not null,
  blob text not null,
  comment text not null,
  family text not null,
  bits integer not null,
  fingerprint text not null,
  fingerprint_sha256 text not null unique,
  expires_at integer,
  last_used_at integer,
  created_at integer not null,
  usage_type text not null default 'auth_and_signing',
  shared integer not null default 0,
  last_used_ip text
) strict;

CREATE INDEX keys_deploy on keys (id) where user_id is null;

CREATE INDEX keys_fingerprint on keys (fingerprint);

CREATE INDEX keys_user on keys (user_id, id);

CREATE TABLE label_counts (
  label_id integer not null,
  project_id integer not null,
  opened_issues integer not null,
  closed_issues integer not null,
  opened_confidential_issues integer not null,
  closed_confidential_issues integer not null,
  opened_merge_requests integer not null,
  primary key (label_id, project_id)
) strict;

CREATE TABLE label_links (
  target_type text not null,
  target_id integer not null,
  label_id integer not null references labels (id) on delete cascade,
  target_created_at integer not null,
  primary key (target_type, target_id, label_id)
) strict, without rowid;

CREATE INDEX label_links_label on label_links (label_id, target_type, target_created_at, target_id);

CREATE TRIGGER label_links_delete_old after delete on label_links when old.target_type = 'Issue' begin update issues set revision = revision + 1 where id = old.target_id; end;

CREATE TRIGGER label_links_delete_old_of_merge_request after delete on label_links when old.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = old.target_id; end;

CREATE TRIGGER label_links_insert_new after insert on label_links when new.target_type = 'Issue' begin update issues set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER label_links_insert_new_of_merge_request after insert on label_links when new.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER label_links_of_issues_counted_delete after delete on label_links when old.target_type = 'Issue' begin insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select old.label_id, linked.project_id, - (case when linked.deleted_at is null and linked.state = 'opened' then 1 else 0 end), - (case when linked.deleted_at is null and linked.state = 'closed' then 1 else 0 end), - (case when linked.deleted_at is null and linked.state = 'opened' and linked.confidential = 1 then 1 else 0 end), - (case when linked.deleted_at is null and linked.state = 'closed' and linked.confidential = 1 then 1 else 0 end), 0 from issues as linked where linked.id = old.target_id and linked.deleted_at is null on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; delete from label_counts where label_id = old.label_id and project_id = (select project_id from issues where id = old.target_id) and opened_issues = 0 and closed_issues = 0 and opened_confidential_issues = 0 and closed_confidential_issues = 0 and opened_merge_requests = 0; end;

CREATE TRIGGER label_links_of_issues_counted_insert after insert on label_links when new.target_type = 'Issue' begin insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select new.label_id, linked.project_id, + (case when linked.deleted_at is null and linked.state = 'opened' then 1 else 0 end), + (case when linked.deleted_at is null and linked.state = 'closed' then 1 else 0 end), + (case when linked.deleted_at is null and linked.state = 'opened' and linked.confidential = 1 then 1 else 0 end), + (case when linked.deleted_at is null and linked.state = 'closed' and linked.confidential = 1 then 1 else 0 end), 0 from issues as linked where linked.id = new.target_id and linked.deleted_at is null on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; end;

CREATE TRIGGER label_links_of_issues_counted_update_new after update on label_links when new.target_type = 'Issue' begin insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select new.label_id, linked.project_id, + (case when linked.deleted_at is null and linked.state = 'opened' then 1 else 0 end), + (case when linked.deleted_at is null and linked.state = 'closed' then 1 else 0 end), + (case when linked.deleted_at is null and linked.state = 'opened' and linked.confidential = 1 then 1 else 0 end), + (case when linked.deleted_at is null and linked.state = 'closed' and linked.confidential = 1 then 1 else 0 end), 0 from issues as linked where linked.id = new.target_id and linked.deleted_at is null on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; end;

CREATE TRIGGER label_links_of_issues_counted_update_old after update on label_links when old.target_type = 'Issue' begin insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select old.label_id, linked.project_id, - (case when linked.deleted_at is null and linked.state = 'opened' then 1 else 0 end), - (case when linked.deleted_at is null and linked.state = 'closed' then 1 else 0 end), - (case when linked.deleted_at is null and linked.state = 'opened' and linked.confidential = 1 then 1 else 0 end), - (case when linked.deleted_at is null and linked.state = 'closed' and linked.confidential = 1 then 1 else 0 end), 0 from issues as linked where linked.id = old.target_id and linked.deleted_at is null on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; end;

CREATE TRIGGER label_links_of_merge_requests_counted_delete after delete on label_links when old.target_type = 'MergeRequest' begin insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select old.label_id, linked.project_id, 0, 0, 0, 0, - (case when linked.deleted_at is null and linked.state = 'opened' then 1 else 0 end) from merge_requests as linked where linked.id = old.target_id and linked.deleted_at is null on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; delete from label_counts where label_id = old.label_id and project_id = (select project_id from merge_requests where id = old.target_id) and opened_issues = 0 and closed_issues = 0 and opened_confidential_issues = 0 and closed_confidential_issues = 0 and opened_merge_requests = 0; end;

CREATE TRIGGER label_links_of_merge_requests_counted_insert after insert on label_links when new.target_type = 'MergeRequest' begin insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select new.label_id, linked.project_id, 0, 0, 0, 0, + (case when linked.deleted_at is null and linked.state = 'opened' then 1 else 0 end) from merge_requests as linked where linked.id = new.target_id and linked.deleted_at is null on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; end;

CREATE TRIGGER label_links_of_merge_requests_counted_update_new after update on label_links when new.target_type = 'MergeRequest' begin insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select new.label_id, linked.project_id, 0, 0, 0, 0, + (case when linked.deleted_at is null and linked.state = 'opened' then 1 else 0 end) from merge_requests as linked where linked.id = new.target_id and linked.deleted_at is null on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; end;

CREATE TRIGGER label_links_of_merge_requests_counted_update_old after update on label_links when old.target_type = 'MergeRequest' begin insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select old.label_id, linked.project_id, 0, 0, 0, 0, - (case when linked.deleted_at is null and linked.state = 'opened' then 1 else 0 end) from merge_requests as linked where linked.id = old.target_id and linked.deleted_at is null on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; end;

CREATE TRIGGER label_links_update_new after update on label_links when new.target_type = 'Issue' begin update issues set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER label_links_update_new_of_merge_request after update on label_links when new.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER label_links_update_old after update on label_links when old.target_type = 'Issue' begin update issues set revision = revision + 1 where id = old.target_id; end;

CREATE TRIGGER label_links_update_old_of_merge_request after update on label_links when old.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = old.target_id; end;

CREATE TABLE labels (
  id integer primary key autoincrement,
  project_id integer references projects (id) on delete cascade,
  group_id integer references namespaces (id) on delete cascade,
  title text not null,
  color text not null,
  description text,
  priority integer,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE UNIQUE INDEX labels_of_group on labels (group_id, title);

CREATE UNIQUE INDEX labels_of_project on labels (project_id, title);

CREATE INDEX labels_title on labels (title);

CREATE TRIGGER labels_renamed after update of title on labels begin update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'names_version'; end;

CREATE TABLE mails (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  kind text not null,
  event_key text not null,
  reason text not null,
  actor_id integer,
  target_type text,
  target_id integer,
  note_id integer,
  state text not null default 'pending',
  attempts integer not null default 0,
  next_attempt_at integer not null,
  error text,
  message_id text,
  subject text,
  body text,
  is_secret integer not null default 0,
  created_at integer not null,
  sent_at integer,
  html text
) strict;

CREATE UNIQUE INDEX mails_event on mails (user_id, event_key);

CREATE INDEX mails_finished on mails (id) where state <> 'pending';

CREATE INDEX mails_pending on mails (user_id, id) where state = 'pending';

CREATE INDEX mails_sent on mails (user_id, sent_at) where sent_at is not null;

CREATE TABLE members (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  source_type text not null,
  source_id integer not null,
  access_level integer not null,
  expires_at text,
  created_by_id integer,
  created_at integer not null
) strict;

CREATE INDEX members_expiring on members (expires_at, id) where expires_at is not null;

CREATE UNIQUE INDEX members_of_source on members (source_type, source_id, user_id);

CREATE INDEX members_user on members (user_id, source_type, source_id);

CREATE TABLE mentions (
  target_type text not null,
  target_id integer not null,
  note_id integer not null,
  user_id integer not null references users (id) on delete cascade,
  primary key (target_type, target_id, user_id, note_id)
) strict;

CREATE INDEX mentions_user on mentions (user_id);

CREATE TABLE merge_request_approvals (
  merge_request_id integer not null references merge_requests (id) on delete cascade,
  user_id integer not null references users (id) on delete cascade,
  created_at integer not null,
  primary key (merge_request_id, user_id)
) strict;

CREATE INDEX merge_request_approvals_user on merge_request_approvals (user_id);

CREATE TABLE merge_request_commits (
  diff_id integer not null references merge_request_diffs (id) on delete cascade,
  sha text not null,
  position integer not null,
  primary key (diff_id, position)
) strict;

CREATE INDEX merge_request_commits_sha on merge_request_commits (sha);

CREATE TABLE merge_request_diff_texts (
  diff_id integer primary key references merge_request_diffs (id) on delete cascade,
  commits text not null,
  diffs text not null
) strict;

CREATE TABLE merge_request_diffs (
  id integer primary key autoincrement,
  merge_request_id integer not null references merge_requests (id) on delete cascade,
  state text not null,
  head_commit_sha text,
  base_commit_sha text,
  start_commit_sha text,
  real_size text,
  commits_count integer not null,
  created_at integer not null,
  pushed_by_id integer references users (id) on delete set null
) strict;

CREATE INDEX merge_request_diffs_of on merge_request_diffs (merge_request_id, id);

CREATE INDEX merge_request_diffs_pusher on merge_request_diffs (pushed_by_id) where pushed_by_id is not null;

CREATE TABLE merge_request_reviews (
  merge_request_id integer not null references merge_requests (id) on delete cascade,
  user_id integer not null references users (id) on delete cascade,
  head_sha text not null,
  created_at integer not null,
  primary key (merge_request_id, user_id)
) strict;

CREATE INDEX merge_request_reviews_user on merge_request_reviews (user_id);

CREATE TABLE merge_request_search (
  merge_request_id integer primary key references merge_requests (id) on delete cascade,
  title text not null,
  description text not null,
  indexed integer not null default 0
) strict;

CREATE INDEX merge_request_search_waiting on merge_request_search (merge_request_id) where indexed = 0;

CREATE VIRTUAL TABLE merge_request_search_index using fts5 (title, description, content = '', contentless_delete = 1, detail = full, tokenize = 'trigram case_sensitive 1');

CREATE TABLE merge_request_viewed_files (
  merge_request_id integer not null references merge_requests (id) on delete cascade,
  user_id integer not null references users (id) on delete cascade,
  path_digest text not null,
  blob_id text not null,
  created_at integer not null,
  primary key (merge_request_id, user_id, path_digest)
) strict;

CREATE INDEX merge_request_viewed_files_user on merge_request_viewed_files (user_id);

CREATE TABLE merge_requests (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  source_project_id integer references projects (id) on delete set null,
  iid integer not null,
  title text not null,
  description text,
  state text not null,
  source_branch text not null,
  target_branch text not null,
  author_id integer not null references users (id),
  milestone_id integer references milestones (id) on delete set null,
  merge_status text not null,
  checked_source_sha text,
  checked_target_sha text,
  diff_id integer,
  head_sha text,
  merge_commit_sha text,
  squash_commit_sha text,
  squash integer not null default 0,
  merge_when_pipeline_succeeds integer not null default 0,
  merge_user_id integer references users (id) on delete set null,
  merge_params text not null default '{}',
  should_remove_source_branch integer,
  force_remove_source_branch integer not null default 0,
  rebase_in_progress integer not null default 0,
  merge_error text,
  time_estimate integer not null default 0,
  total_time_spent integer not null default 0,
  user_notes_count integer not null default 0,
  upvotes integer not null default 0,
  downvotes integer not null default 0,
  merged_at integer,
  merged_by_id integer references users (id) on delete set null,
  closed_at integer,
  closed_by_id integer references users (id) on delete set null,
  created_at integer not null,
  updated_at integer not null,
  deleted_at integer,
  revision integer not null default 0,
  discussion_locked integer,
  last_edited_at integer,
  last_edited_by_id integer
) strict;

CREATE INDEX merge_requests_all_created on merge_requests (deleted_at, created_at, id);

CREATE INDEX merge_requests_all_updated on merge_requests (deleted_at, updated_at, id, project_id, state);

CREATE INDEX merge_requests_author on merge_requests (author_id, deleted_at, created_at, id);

CREATE INDEX merge_requests_closed_by on merge_requests (closed_by_id) where closed_by_id is not null;

CREATE INDEX merge_requests_created on merge_requests (project_id, deleted_at, created_at, id);

CREATE INDEX merge_requests_head on merge_requests (project_id, head_sha);

CREATE UNIQUE INDEX merge_requests_iid on merge_requests (project_id, iid);

CREATE INDEX merge_requests_linked on merge_requests (id, deleted_at, project_id, state) where id > 0;

CREATE INDEX merge_requests_merge_commit on merge_requests (project_id, merge_commit_sha) where merge_commit_sha is not null;

CREATE INDEX merge_requests_merge_user on merge_requests (merge_user_id) where merge_user_id is not null;

CREATE INDEX merge_requests_merged on merge_requests (project_id, deleted_at, (coalesce(merged_at, 0)), id, state);

CREATE INDEX merge_requests_merged_by on merge_requests (merged_by_id) where merged_by_id is not null;

CREATE INDEX merge_requests_milestone on merge_requests (milestone_id, deleted_at, created_at, id, project_id, state);

CREATE UNIQUE INDEX merge_requests_open on merge_requests (source_project_id, source_branch, project_id, target_branch) where state = 'opened' and deleted_at is null;

CREATE INDEX merge_requests_project_author on merge_requests (project_id, deleted_at, author_id, created_at, id);

CREATE INDEX merge_requests_project_source on merge_requests (project_id, deleted_at, source_branch, created_at, id);

CREATE INDEX merge_requests_project_target on merge_requests (project_id, deleted_at, target_branch, created_at, id);

CREATE INDEX merge_requests_scheduled on merge_requests (project_id, deleted_at, state) where merge_when_pipeline_succeeds = 1;

CREATE INDEX merge_requests_scheduled_source on merge_requests (source_project_id, deleted_at, state) where merge_when_pipeline_succeeds = 1;

CREATE INDEX merge_requests_source on merge_requests (source_project_id, source_branch, state);

CREATE INDEX merge_requests_source_branch on merge_requests (source_branch, deleted_at, created_at, id);

CREATE INDEX merge_requests_squash_commit on merge_requests (project_id, squash_commit_sha) where squash_commit_sha is not null;

CREATE INDEX merge_requests_state_created on merge_requests (project_id, deleted_at, state, created_at, id);

CREATE INDEX merge_requests_state_updated on merge_requests (project_id, deleted_at, state, updated_at, id);

CREATE INDEX merge_requests_target on merge_requests (project_id, target_branch, state);

CREATE INDEX merge_requests_title on merge_requests (project_id, deleted_at, (lower(title)), id, state);

CREATE INDEX merge_requests_updated on merge_requests (project_id, deleted_at, updated_at, id);

CREATE INDEX merge_requests_upvotes on merge_requests (project_id, deleted_at, upvotes, id, state, milestone_id);

CREATE TRIGGER merge_requests_counted_delete after delete on merge_requests begin update project_counters set opened_merge_requests = opened_merge_requests - (case when old.deleted_at is null and old.state in ('opened', 'locked') then 1 else 0 end), closed_merge_requests = closed_merge_requests - (case when old.deleted_at is null and old.state = 'closed' then 1 else 0 end), merged_merge_requests = merged_merge_requests - (case when old.deleted_at is null and old.state = 'merged' then 1 else 0 end) where project_id = old.project_id; insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select label_id, old.project_id, 0, 0, 0, 0, - (case when old.deleted_at is null and old.state = 'opened' then 1 else 0 end) from label_links where target_type = 'MergeRequest' and target_id = old.id on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; end;

CREATE TRIGGER merge_requests_counted_insert after insert on merge_requests begin update project_counters set opened_merge_requests = opened_merge_requests + (case when new.deleted_at is null and new.state in ('opened', 'locked') then 1 else 0 end), closed_merge_requests = closed_merge_requests + (case when new.deleted_at is null and new.state = 'closed' then 1 else 0 end), merged_merge_requests = merged_merge_requests + (case when new.deleted_at is null and new.state = 'merged' then 1 else 0 end) where project_id = new.project_id; end;

CREATE TRIGGER merge_requests_counted_update after update of state, deleted_at on merge_requests when new.state is not old.state or new.deleted_at is not old.deleted_at begin update project_counters set opened_merge_requests = opened_merge_requests + (case when new.deleted_at is null and new.state in ('opened', 'locked') then 1 else 0 end) - (case when old.deleted_at is null and old.state in ('opened', 'locked') then 1 else 0 end), closed_merge_requests = closed_merge_requests + (case when new.deleted_at is null and new.state = 'closed' then 1 else 0 end) - (case when old.deleted_at is null and old.state = 'closed' then 1 else 0 end), merged_merge_requests = merged_merge_requests + (case when new.deleted_at is null and new.state = 'merged' then 1 else 0 end) - (case when old.deleted_at is null and old.state = 'merged' then 1 else 0 end) where project_id = new.project_id; insert into label_counts (label_id, project_id, opened_issues, closed_issues, opened_confidential_issues, closed_confidential_issues, opened_merge_requests) select label_id, new.project_id, 0, 0, 0, 0, + (case when new.deleted_at is null and new.state = 'opened' then 1 else 0 end) - (case when old.deleted_at is null and old.state = 'opened' then 1 else 0 end) from label_links where target_type = 'MergeRequest' and target_id = new.id on conflict (label_id, project_id) do update set opened_issues = opened_issues + excluded.opened_issues, closed_issues = closed_issues + excluded.closed_issues, opened_confidential_issues = opened_confidential_issues + excluded.opened_confidential_issues, closed_confidential_issues = closed_confidential_issues + excluded.closed_confidential_issues, opened_merge_requests = opened_merge_requests + excluded.opened_merge_requests; end;

CREATE TRIGGER merge_requests_delete_old after delete on merge_requests begin update project_counters set merge_requests_version = merge_requests_version + 1 where project_id = old.project_id; end;

CREATE TRIGGER merge_requests_insert_new after insert on merge_requests begin update project_counters set merge_requests_version = merge_requests_version + 1 where project_id = new.project_id; end;

CREATE TRIGGER merge_requests_revised after update on merge_requests when new.revision = old.revision begin update merge_requests set revision = revision + 1 where id = new.id; end;

CREATE TRIGGER merge_requests_update_new after update on merge_requests when new.revision <> old.revision begin update project_counters set merge_requests_version = merge_requests_version + 1 where project_id = new.project_id; end;

CREATE TABLE merge_requests_closing_issues (
  merge_request_id integer not null,
  issue_id integer not null references issues (id) on delete cascade,
  primary key (issue_id, merge_request_id)
) strict;

CREATE INDEX merge_requests_closing_issues_by on merge_requests_closing_issues (merge_request_id);

CREATE TRIGGER merge_requests_closing_issues_delete_old after delete on merge_requests_closing_issues begin update project_counters set issues_version = issues_version + 1 where project_id = (select project_id from merge_requests where id = old.merge_request_id); end;

CREATE TRIGGER merge_requests_closing_issues_insert_new after insert on merge_requests_closing_issues begin update project_counters set issues_version = issues_version + 1 where project_id = (select project_id from merge_requests where id = new.merge_request_id); end;

CREATE TABLE migrations (
  name text primary key,
  applied_at integer not null
) strict;

CREATE TABLE milestones (
  id integer primary key autoincrement,
  iid integer not null,
  project_id integer references projects (id) on delete cascade,
  group_id integer references namespaces (id) on delete cascade,
  title text not null,
  description text,
  state text not null,
  start_date text,
  due_date text,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE UNIQUE INDEX milestones_of_group on milestones (group_id, iid);

CREATE UNIQUE INDEX milestones_of_project on milestones (project_id, iid);

CREATE INDEX milestones_title on milestones (title);

CREATE TRIGGER milestones_renamed after update of iid, project_id, group_id, title, description, state, start_date, due_date, created_at, updated_at on milestones begin update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'names_version'; end;

CREATE TABLE namespaces (
  id integer primary key autoincrement,
  kind text not null,
  parent_id integer references namespaces (id) on delete cascade,
  owner_id integer references users (id) on delete cascade,
  path text not null,
  full_path text not null,
  name text not null,
  description text not null,
  visibility text not null,
  lfs_enabled integer not null default 1,
  request_access_enabled integer not null default 0,
  created_at integer not null,
  updated_at integer not null,
  deleted_at integer,
  runners_token_hash text,
  project_creation_level text not null default 'maintainer',
  subgroup_creation_level text not null default 'owner',
  require_two_factor_authentication integer not null default 0,
  two_factor_grace_period integer not null default 48,
  default_branch_protection integer,
  default_branch text,
  share_with_group_lock integer not null default 0,
  membership_lock integer not null default 0,
  emails_disabled integer not null default 0,
  mentions_disabled integer not null default 0,
  auto_devops_enabled integer,
  shared_runners_setting text not null default 'enabled',
  two_factor_required_at integer,
  avatar text
) strict;

CREATE INDEX namespaces_lower_name on namespaces (lower(name), id);

CREATE UNIQUE INDEX namespaces_name on namespaces (parent_id, name) where parent_id is not null and deleted_at is null;

CREATE INDEX namespaces_owner on namespaces (owner_id);

CREATE INDEX namespaces_parent on namespaces (parent_id);

CREATE UNIQUE INDEX namespaces_runners_token on namespaces (runners_token_hash) where runners_token_hash is not null;

CREATE INDEX namespaces_two_factor_required on namespaces (id) where two_factor_required_at is not null;

CREATE TRIGGER namespaces_moved_for_hooks after update of parent_id on namespaces when new.parent_id is not old.parent_id begin update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'hooks_version' and value <> '0'; end;

CREATE TABLE notes (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  target_type text not null,
  target_id integer not null,
  author_id integer not null references users (id),
  body text not null,
  system integer not null,
  created_at integer not null,
  updated_at integer not null,
  discussion_id text,
  type text,
  original_position text,
  position text,
  resolvable integer not null default 0,
  resolved_at integer,
  resolved_by_id integer references users (id) on delete set null,
  mentioned_by_type text,
  mentioned_by_project_id integer,
  mentioned_by_id integer,
  mentioned_by_sha text,
  internal integer not null default 0,
  edited_by_id integer
) strict;

CREATE INDEX notes_author on notes (author_id, target_type, target_id, system);

CREATE INDEX notes_created on notes (target_type, target_id, created_at, id);

CREATE INDEX notes_discussion on notes (discussion_id) where discussion_id is not null;

CREATE UNIQUE INDEX notes_mentioned_by on notes (mentioned_by_type, mentioned_by_id, target_type, target_id) where mentioned_by_id is not null;

CREATE UNIQUE INDEX notes_mentioned_by_commit on notes (mentioned_by_project_id, mentioned_by_sha, target_type, target_id) where mentioned_by_sha is not null;

CREATE INDEX notes_project on notes (project_id);

CREATE INDEX notes_resolved_by on notes (resolved_by_id) where resolved_by_id is not null;

CREATE INDEX notes_unresolved on notes (target_type, target_id) where resolvable = 1 and resolved_at is null;

CREATE INDEX notes_updated on notes (target_type, target_id, updated_at, id);

CREATE TABLE notification_settings (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  project_id integer references projects (id) on delete cascade,
  group_id integer references namespaces (id) on delete cascade,
  level text not null,
  events text not null,
  created_at integer not null,
  updated_at integer not null,
  check (project_id is null or group_id is null)
) strict;

CREATE UNIQUE INDEX notification_settings_group on notification_settings (group_id, user_id) where group_id is not null;

CREATE INDEX notification_settings_of_user on notification_settings (user_id);

CREATE UNIQUE INDEX notification_settings_project on notification_settings (project_id, user_id) where project_id is not null;

CREATE UNIQUE INDEX notification_settings_user on notification_settings (user_id) where project_id is null and group_id is null;

CREATE INDEX notification_settings_watchers on notification_settings (project_id) where level = 'watch';

CREATE TABLE oauth_applications (
  id integer primary key autoincrement,
  owner_id integer references users (id) on delete cascade,
  name text not null,
  uid text not null unique,
  secret_hash text not null,
  redirect_uris text not null,
  scopes text not null,
  confidential integer not null,
  trusted integer not null,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE INDEX oauth_applications_owner on oauth_applications (owner_id, id);

CREATE TABLE oauth_grants (
  id integer primary key autoincrement,
  code_hash text not null unique,
  application_id integer not null references oauth_applications (id) on delete cascade,
  user_id integer not null references users (id) on delete cascade,
  redirect_uri text not null,
  scopes text not null,
  code_challenge text,
  family text not null,
  dies_at integer not null,
  used_at integer,
  created_at integer not null
) strict;

CREATE INDEX oauth_grants_application on oauth_grants (application_id);

CREATE INDEX oauth_grants_death on oauth_grants (dies_at);

CREATE INDEX oauth_grants_user on oauth_grants (user_id);

CREATE TABLE passkeys (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  name text not null,
  credential_id text not null unique,
  public_key text not null,
  sign_count integer not null,
  transports text not null,
  created_at integer not null,
  last_used_at integer
) strict;

CREATE INDEX passkeys_user on passkeys (user_id, id);

CREATE TABLE pending_jobs (
  job_id integer primary key references jobs (id) on delete cascade,
  project_id integer not null references projects (id) on delete cascade,
  protected integer not null,
  tag_list text not null,
  created_at integer not null
) strict;

CREATE INDEX pending_jobs_project on pending_jobs (project_id, job_id);

CREATE TABLE pipeline_schedule_variables (
  schedule_id integer not null references pipeline_schedules (id) on delete cascade,
  key text not null,
  sealed_value text not null,
  variable_type text not null default 'env_var',
  raw integer not null default 0,
  primary key (schedule_id, key)
) strict;

CREATE TABLE pipeline_schedules (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  owner_id integer references users (id) on delete set null,
  description text not null,
  ref text not null,
  cron text not null,
  cron_timezone text not null,
  active integer not null,
  next_run_at integer,
  last_pipeline_id integer,
  created_at integer not null,
  updated_at integer not null,
  inputs text
) strict;

CREATE INDEX pipeline_schedules_next on pipeline_schedules (next_run_at) where active = 1;

CREATE INDEX pipeline_schedules_owner on pipeline_schedules (owner_id);

CREATE INDEX pipeline_schedules_project on pipeline_schedules (project_id, id);

CREATE TABLE pipeline_variables (
  pipeline_id integer not null references pipelines (id) on delete cascade,
  key text not null,
  sealed_value text not null,
  variable_type text not null default 'env_var',
  raw integer not null default 0,
  primary key (pipeline_id, key)
) strict;

CREATE TABLE pipelines (
  id integer primary key autoincrement,
  iid integer not null,
  project_id integer not null references projects (id) on delete cascade,
  ref text not null,
  tag integer not null,
  sha text not null,
  before_sha text not null,
  status text not null,
  source text not null,
  protected integer not null,
  user_id integer references users (id) on delete set null,
  merge_request_id integer references merge_requests (id) on delete set null,
  name text,
  yaml_errors text,
  failure_reason text,
  auto_cancel text not null default 'conservative',
  created_at integer not null,
  updated_at integer not null,
  started_at integer,
  finished_at integer,
  duration integer,
  source_pipeline_id integer references pipelines (id) on delete set null,
  source_job_id integer references jobs (id) on delete set null,
  root_id integer,
  depth integer not null default 0,
  schedule_id integer references pipeline_schedules (id) on delete set null
) strict;

CREATE UNIQUE INDEX pipelines_iid on pipelines (project_id, iid);

CREATE INDEX pipelines_merge_request on pipelines (merge_request_id, id) where merge_request_id is not null;

CREATE INDEX pipelines_project on pipelines (project_id, id);

CREATE INDEX pipelines_ref on pipelines (project_id, ref, status, id);

CREATE INDEX pipelines_root on pipelines (root_id, id) where root_id is not null;

CREATE INDEX pipelines_schedule on pipelines (schedule_id, id) where schedule_id is not null;

CREATE INDEX pipelines_sha on pipelines (project_id, sha, id);

CREATE UNIQUE INDEX pipelines_source_job on pipelines (source_job_id) where source_job_id is not null;

CREATE INDEX pipelines_source_pipeline on pipelines (source_pipeline_id, id) where source_pipeline_id is not null;

CREATE INDEX pipelines_status on pipelines (project_id, status, id);

CREATE INDEX pipelines_user on pipelines (user_id, id);

CREATE TABLE project_counters (
  project_id integer primary key references projects (id) on delete cascade,
  opened_issues integer not null default 0,
  closed_issues integer not null default 0,
  opened_confidential_issues integer not null default 0,
  closed_confidential_issues integer not null default 0,
  issues_version integer not null default 0,
  opened_merge_requests integer not null default 0,
  closed_merge_requests integer not null default 0,
  merged_merge_requests integer not null default 0,
  merge_requests_version integer not null default 0,
  star_count integer not null default 0
) strict;

CREATE TABLE project_imports (
  project_id integer primary key references projects (id) on delete cascade,
  user_id integer references users (id) on delete set null,
  url text not null,
  sealed_credentials text,
  attempts integer not null default 0,
  error text,
  created_at integer not null,
  updated_at integer not null,
  excused_attempts integer not null default 0
) strict;

CREATE INDEX project_imports_user on project_imports (user_id) where user_id is not null;

CREATE TABLE project_stars (
  project_id integer not null references projects (id) on delete cascade,
  user_id integer not null references users (id) on delete cascade,
  created_at integer not null,
  primary key (project_id, user_id)
) strict;

CREATE INDEX project_stars_newest on project_stars (project_id, created_at, user_id);

CREATE INDEX project_stars_user on project_stars (user_id);

CREATE TRIGGER project_stars_counted_delete after delete on project_stars begin update project_counters set star_count = star_count - 1 where project_id = old.project_id; end;

CREATE TRIGGER project_stars_counted_insert after insert on project_stars begin update project_counters set star_count = star_count + 1 where project_id = new.project_id; end;

CREATE TABLE project_topics (
  project_id integer not null references projects (id) on delete cascade,
  position integer not null,
  topic_id integer not null references topics (id) on delete cascade,
  primary key (project_id, position)
) strict;

CREATE UNIQUE INDEX project_topics_topic on project_topics (topic_id, project_id);

CREATE TRIGGER project_topics_counted_delete after delete on project_topics begin update topics set public_projects_count = public_projects_count - (select count(*) from projects where id = old.project_id and deleted_at is null and visibility = 'public'), internal_projects_count = internal_projects_count - (select count(*) from projects where id = old.project_id and deleted_at is null and visibility = 'internal'), private_projects_count = private_projects_count - (select count(*) from projects where id = old.project_id and deleted_at is null and visibility = 'private') where id = old.topic_id; end;

CREATE TRIGGER project_topics_counted_insert after insert on project_topics begin update topics set public_projects_count = public_projects_count + (select count(*) from projects where id = new.project_id and deleted_at is null and visibility = 'public'), internal_projects_count = internal_projects_count + (select count(*) from projects where id = new.project_id and deleted_at is null and visibility = 'internal'), private_projects_count = private_projects_count + (select count(*) from projects where id = new.project_id and deleted_at is null and visibility = 'private') where id = new.topic_id; end;

CREATE TRIGGER project_topics_counted_update after update of topic_id on project_topics begin update topics set public_projects_count = public_projects_count - (select count(*) from projects where id = old.project_id and deleted_at is null and visibility = 'public'), internal_projects_count = internal_projects_count - (select count(*) from projects where id = old.project_id and deleted_at is null and visibility = 'internal'), private_projects_count = private_projects_count - (select count(*) from projects where id = old.project_id and deleted_at is null and visibility = 'private') where id = old.topic_id; update topics set public_projects_count = public_projects_count + (select count(*) from projects where id = new.project_id and deleted_at is null and visibility = 'public'), internal_projects_count = internal_projects_count + (select count(*) from projects where id = new.project_id and deleted_at is null and visibility = 'internal'), private_projects_count = private_projects_count + (select count(*) from projects where id = new.project_id and deleted_at is null and visibility = 'private') where id = new.topic_id; end;

CREATE TABLE projects (
  id integer primary key autoincrement,
  namespace_id integer not null references namespaces (id) on delete cascade,
  path text not null,
  full_path text not null,
  name text not null,
  description text,
  visibility text not null,
  creator_id integer references users (id) on delete set null,
  default_branch text,
  archived integer not null default 0,
  issues_access_level text not null default 'enabled',
  merge_requests_access_level text not null default 'enabled',
  builds_access_level text not null default 'enabled',
  repository_access_level text not null default 'enabled',
  snippets_access_level text not null default 'enabled',
  public_builds integer not null default 1,
  shared_runners_enabled integer not null default 1,
  request_access_enabled integer not null default 0,
  only_allow_merge_if_pipeline_succeeds integer not null default 0,
  only_allow_merge_if_all_discussions_are_resolved integer not null default 0,
  forked_from_project_id integer references projects (id) on delete set null,
  repository_storage text not null default 'default',
  created_at integer not null,
  updated_at integer not null,
  last_activity_at integer not null,
  deleted_at integer,
  merge_method text not null default 'merge',
  squash_option text not null default 'default_off',
  remove_source_branch_after_merge integer not null default 1,
  fork_network_id integer,
  ci_config_path text,
  build_timeout integer not null default 3600,
  auto_cancel_pending_pipelines text not null default 'enabled',
  ci_default_git_depth integer not null default 20,
  keep_latest_artifact integer not null default 1,
  runners_token_hash text,
  max_artifacts_size integer,
  job_token_list_enabled integer not null default 1,
  repository_path text,
  repository_written integer not null default 0,
  forking_access_level text not null default 'enabled',
  releases_access_level text not null default 'enabled',
  environments_access_level text not null default 'enabled',
  container_registry_access_level text not null default 'enabled',
  avatar text,
  repository_moving integer not null default 0,
  merge_commit_template text,
  squash_commit_template text,
  suggestion_commit_message text,
  autoclose_referenced_issues integer not null default 1,
  printing_merge_request_link_enabled integer not null default 1,
  emails_enabled integer not null default 1,
  group_runners_enabled integer not null default 1,
  import_status text not null default 'none'
) strict;

CREATE INDEX projects_archived on projects (id) where archived = 1 and deleted_at is null;

CREATE INDEX projects_created on projects (created_at, id);

CREATE INDEX projects_creator on projects (creator_id);

CREATE INDEX projects_fork_network on projects (fork_network_id) where fork_network_id is not null;

CREATE INDEX projects_forked_from on projects (forked_from_project_id);

CREATE UNIQUE INDEX projects_name on projects (namespace_id, name) where deleted_at is null;

CREATE INDEX projects_namespace on projects (namespace_id);

CREATE UNIQUE INDEX projects_runners_token on projects (runners_token_hash) where runners_token_hash is not null;

CREATE INDEX projects_visibility on projects (deleted_at, visibility, namespace_id, id);

CREATE TRIGGER projects_counted_in_topics after update of visibility, deleted_at on projects begin update topics set public_projects_count = public_projects_count + (case when new.deleted_at is null and new.visibility = 'public' then 1 else 0 end) - (case when old.deleted_at is null and old.visibility = 'public' then 1 else 0 end), internal_projects_count = internal_projects_count + (case when new.deleted_at is null and new.visibility = 'internal' then 1 else 0 end) - (case when old.deleted_at is null and old.visibility = 'internal' then 1 else 0 end), private_projects_count = private_projects_count + (case when new.deleted_at is null and new.visibility = 'private' then 1 else 0 end) - (case when old.deleted_at is null and old.visibility = 'private' then 1 else 0 end) where id in (select topic_id from project_topics where project_id = new.id); end;

CREATE TRIGGER projects_moved_for_hooks after update of namespace_id on projects when new.namespace_id is not old.namespace_id begin update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'hooks_version' and value <> '0'; end;

CREATE TRIGGER projects_renamed after update of full_path, squash_option on projects begin update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'names_version'; end;

CREATE TABLE protected_branches (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  name text not null,
  push_access_level integer not null,
  merge_access_level integer not null,
  allow_force_push integer not null default 0,
  created_at integer not null
) strict;

CREATE UNIQUE INDEX protected_branches_name on protected_branches (project_id, name);

CREATE TABLE protected_tags (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  name text not null,
  create_access_level integer not null,
  created_at integer not null
) strict;

CREATE UNIQUE INDEX protected_tags_name on protected_tags (project_id, name);

CREATE TABLE recovery_codes (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  code_hash text not null,
  unique (user_id, code_hash)
) strict;

CREATE TABLE redirect_routes (
  path text primary key,
  source_type text not null,
  source_id integer not null
) strict;

CREATE INDEX redirect_routes_source on redirect_routes (source_type, source_id);

CREATE TABLE release_links (
  id integer primary key autoincrement,
  release_id integer not null references releases (id) on delete cascade,
  name text not null,
  url text not null,
  filepath text,
  link_type text not null default 'other'
) strict;

CREATE UNIQUE INDEX release_links_name on release_links (release_id, name);

CREATE UNIQUE INDEX release_links_url on release_links (release_id, url);

CREATE TABLE release_milestones (
  release_id integer not null references releases (id) on delete cascade,
  milestone_id integer not null references milestones (id) on delete cascade,
  primary key (release_id, milestone_id)
) strict;

CREATE INDEX release_milestones_milestone on release_milestones (milestone_id);

CREATE TABLE releases (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  tag text not null,
  name text,
  description text,
  sha text,
  author_id integer references users (id) on delete set null,
  created_at integer not null,
  released_at integer not null
) strict;

CREATE INDEX releases_author on releases (author_id);

CREATE INDEX releases_released on releases (project_id, released_at, id);

CREATE UNIQUE INDEX releases_tag on releases (project_id, tag);

CREATE TABLE repository_moves (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  user_id integer references users (id) on delete set null,
  state text not null,
  source_storage text not null,
  source_path text not null,
  destination_storage text not null,
  destination_path text not null,
  attempts integer not null default 0,
  error text,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE UNIQUE INDEX repository_moves_open on repository_moves (project_id) where state in ('scheduled', 'started');

CREATE INDEX repository_moves_project on repository_moves (project_id, id);

CREATE INDEX repository_moves_user on repository_moves (user_id) where user_id is not null;

CREATE TABLE resource_events (
  id integer primary key autoincrement,
  kind text not null,
  target_type text not null,
  target_id integer not null,
  user_id integer references users (id) on delete set null,
  action text not null,
  label_id integer references labels (id) on delete set null,
  milestone_id integer references milestones (id) on delete cascade,
  created_at integer not null
) strict;

CREATE INDEX resource_events_label on resource_events (label_id) where label_id is not null;

CREATE INDEX resource_events_milestone on resource_events (milestone_id) where milestone_id is not null;

CREATE INDEX resource_events_target on resource_events (target_type, target_id, kind, id);

CREATE INDEX resource_events_user on resource_events (user_id) where user_id is not null;

CREATE TABLE resource_groups (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  key text not null,
  process_mode text not null default 'unordered',
  job_id integer,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE UNIQUE INDEX resource_groups_key on resource_groups (project_id, key);

CREATE TABLE reviewers (
  target_type text not null,
  target_id integer not null,
  user_id integer not null references users (id) on delete cascade,
  position integer not null,
  state text not null,
  created_at integer not null,
  target_created_at integer not null,
  primary key (target_type, target_id, user_id)
) strict;

CREATE INDEX reviewers_user on reviewers (user_id, target_type, target_created_at, target_id);

CREATE TRIGGER reviewers_delete_old_of_merge_request after delete on reviewers when old.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = old.target_id; end;

CREATE TRIGGER reviewers_insert_new_of_merge_request after insert on reviewers when new.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER reviewers_update_new_of_merge_request after update on reviewers when new.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER reviewers_update_old_of_merge_request after update on reviewers when old.target_type = 'MergeRequest' begin update merge_requests set revision = revision + 1 where id = old.target_id; end;

CREATE TABLE routes (
  path text primary key,
  source_type text not null,
  source_id integer not null
) strict;

CREATE UNIQUE INDEX routes_source on routes (source_type, source_id);

CREATE TABLE runner_groups (
  runner_id integer not null references runners (id) on delete cascade,
  namespace_id integer not null references namespaces (id) on delete cascade,
  primary key (runner_id, namespace_id)
) strict;

CREATE INDEX runner_groups_namespace on runner_groups (namespace_id, runner_id);

CREATE TABLE runner_managers (
  runner_id integer not null references runners (id) on delete cascade,
  system_id text not null,
  version text,
  revision text,
  platform text,
  architecture text,
  executor text,
  ip_address text,
  contacted_at integer not null,
  created_at integer not null,
  primary key (runner_id, system_id)
) strict;

CREATE TABLE runner_projects (
  runner_id integer not null references runners (id) on delete cascade,
  project_id integer not null references projects (id) on delete cascade,
  primary key (runner_id, project_id)
) strict;

CREATE INDEX runner_projects_project on runner_projects (project_id, runner_id);

CREATE TABLE runners (
  id integer primary key autoincrement,
  token_hash text not null unique,
  token_start text not null,
  runner_type text not null,
  description text,
  maintenance_note text,
  active integer not null default 1,
  locked integer not null default 0,
  run_untagged integer not null default 1,
  tag_list text not null default '[]',
  access_level text not null default 'not_protected',
  maximum_timeout integer,
  creator_id integer references users (id) on delete set null,
  contacted_at integer,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE INDEX runners_creator on runners (creator_id);

CREATE INDEX runners_type on runners (runner_type, id);

CREATE TABLE saved_views (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  kind text not null,
  project_id integer references projects (id) on delete cascade,
  group_id integer references namespaces (id) on delete cascade,
  name text not null,
  query text not null,
  created_at integer not null
) strict;

CREATE INDEX saved_views_group on saved_views (group_id) where group_id is not null;

CREATE UNIQUE INDEX saved_views_name on saved_views (user_id, kind, coalesce(project_id, 0), coalesce(group_id, 0), name);

CREATE INDEX saved_views_project on saved_views (project_id) where project_id is not null;

CREATE TABLE sessions (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  token_hash text not null unique,
  provider text,
  ip text not null,
  user_agent text not null,
  created_at integer not null,
  signed_in_at integer not null,
  last_seen_at integer not null,
  impersonator_session_id integer references sessions (id) on delete cascade
) strict;

CREATE INDEX sessions_of_impersonator on sessions (impersonator_session_id) where impersonator_session_id is not null;

CREATE INDEX sessions_seen on sessions (last_seen_at);

CREATE INDEX sessions_user on sessions (user_id, id);

CREATE TABLE settings (
  name text primary key,
  value text not null,
  updated_at integer not null,
  updated_by_id integer references users (id) on delete set null
) strict;

CREATE TABLE shared_trace_pieces (
  job_id integer not null references shared_traces (job_id) on delete cascade,
  start integer not null,
  bytes blob not null,
  primary key (job_id, start)
) strict;

CREATE TABLE shared_traces (
  job_id integer primary key references jobs (id) on delete cascade,
  project_id integer not null,
  size integer not null,
  crc integer not null,
  sha256 text,
  waits_since integer
) strict;

CREATE INDEX shared_traces_project on shared_traces (project_id);

CREATE INDEX shared_traces_waiting on shared_traces (waits_since, job_id) where waits_since is not null;

CREATE TABLE sign_in_challenges (
  token_hash text primary key,
  user_id integer not null references users (id) on delete cascade,
  provider text,
  created_at integer not null
) strict;

CREATE INDEX sign_in_challenges_created on sign_in_challenges (created_at);

CREATE INDEX sign_in_challenges_user on sign_in_challenges (user_id);

CREATE TABLE sign_in_failures (
  name text primary key,
  failures integer not null,
  first_at integer not null,
  refusals integer not null,
  refused_until integer not null
) strict;

CREATE INDEX sign_in_failures_first on sign_in_failures (first_at);

CREATE TABLE snippet_files (
  id integer primary key autoincrement,
  snippet_id integer not null references snippets (id) on delete cascade,
  position integer not null,
  path text not null,
  content text not null
) strict;

CREATE UNIQUE INDEX snippet_files_path on snippet_files (snippet_id, path);

CREATE TABLE snippets (
  id integer primary key autoincrement,
  project_id integer references projects (id) on delete cascade,
  author_id integer not null references users (id) on delete cascade,
  title text not null,
  file_name text not null,
  description text,
  content text not null,
  visibility text not null,
  user_agent text not null,
  ip_address text not null,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE INDEX snippets_author on snippets (author_id, project_id, id);

CREATE INDEX snippets_personal on snippets (visibility, id) where project_id is null;

CREATE INDEX snippets_project on snippets (project_id, id);

CREATE TRIGGER snippets_deleted after delete on snippets begin delete from activities where target_type = 'Note' and target_id in (select id from notes where target_type = 'Snippet' and target_id = old.id); delete from award_emoji where target_type = 'Note' and target_id in (select id from notes where target_type = 'Snippet' and target_id = old.id); delete from award_emoji where target_type = 'Snippet' and target_id = old.id; delete from mentions where target_type = 'Snippet' and target_id = old.id; delete from notes where target_type = 'Snippet' and target_id = old.id; end;

CREATE TABLE stages (
  id integer primary key autoincrement,
  pipeline_id integer not null references pipelines (id) on delete cascade,
  name text not null,
  position integer not null,
  status text not null
) strict;

CREATE UNIQUE INDEX stages_position on stages (pipeline_id, position);

CREATE TABLE subscriptions (
  user_id integer not null references users (id) on delete cascade,
  target_type text not null,
  target_id integer not null,
  subscribed integer not null,
  created_at integer not null,
  updated_at integer not null,
  primary key (target_type, target_id, user_id)
) strict;

CREATE INDEX subscriptions_user on subscriptions (user_id);

CREATE TABLE timelogs (
  id integer primary key autoincrement,
  target_type text not null,
  target_id integer not null,
  user_id integer not null references users (id),
  time_spent integer not null,
  created_at integer not null,
  summary text not null default '',
  spent_on text
) strict;

CREATE INDEX timelogs_target on timelogs (target_type, target_id);

CREATE INDEX timelogs_user on timelogs (user_id);

CREATE TABLE todos (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  author_id integer not null references users (id),
  project_id integer not null references projects (id) on delete cascade,
  target_type text not null,
  target_id integer not null,
  action text not null,
  note_id integer,
  body text not null,
  state text not null,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE INDEX todos_author on todos (author_id);

CREATE UNIQUE INDEX todos_pending on todos (user_id, target_type, target_id) where state = 'pending';

CREATE INDEX todos_project on todos (project_id);

CREATE INDEX todos_target on todos (target_type, target_id);

CREATE INDEX todos_user on todos (user_id, state, id);

CREATE TABLE tokens (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  kind text not null,
  name text not null,
  token_hash text not null unique,
  scopes text not null,
  revoked integer not null default 0,
  expires_at text,
  last_used_at integer,
  created_at integer not null,
  dies_at integer,
  application_id integer references oauth_applications (id) on delete cascade,
  refresh_hash text,
  family text,
  description text,
  last_used_ip text
) strict;

CREATE INDEX tokens_application on tokens (application_id);

CREATE INDEX tokens_death on tokens (dies_at) where dies_at is not null;

CREATE INDEX tokens_family on tokens (family);

CREATE UNIQUE INDEX tokens_refresh on tokens (refresh_hash);

CREATE INDEX tokens_user on tokens (user_id, kind);

CREATE TABLE topics (
  id integer primary key autoincrement,
  name text not null,
  folded_name text not null,
  title text not null,
  description text,
  avatar text,
  is_described integer not null default 0,
  public_projects_count integer not null default 0,
  internal_projects_count integer not null default 0,
  private_projects_count integer not null default 0,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE INDEX topics_all on topics ((public_projects_count + internal_projects_count + private_projects_count) desc, id);

CREATE UNIQUE INDEX topics_name on topics (folded_name);

CREATE INDEX topics_open on topics ((public_projects_count + internal_projects_count) desc, id);

CREATE INDEX topics_public on topics (public_projects_count desc, id);

CREATE TABLE triggers (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  owner_id integer not null references users (id) on delete cascade,
  description text not null,
  token_hash text not null unique,
  sealed_token text not null,
  last_used_at integer,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE INDEX triggers_owner on triggers (owner_id);

CREATE INDEX triggers_project on triggers (project_id, id);

CREATE TABLE two_factors (
  user_id integer primary key references users (id) on delete cascade,
  sealed_secret text not null,
  last_step integer not null,
  created_at integer not null
) strict;

CREATE TABLE uploads (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  user_id integer references users (id) on delete set null,
  secret text not null unique,
  file_name text not null,
  size integer not null,
  sha256 text not null,
  created_at integer not null
) strict;

CREATE INDEX uploads_project on uploads (project_id, sha256);

CREATE INDEX uploads_user on uploads (user_id);

CREATE TABLE user_agent_details (
  target_type text not null,
  target_id integer not null,
  user_agent text not null,
  ip_address text not null,
  primary key (target_type, target_id)
) strict, without rowid;

CREATE TABLE user_identities (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  provider text not null,
  extern_uid text not null,
  created_at integer not null,
  unique (provider, extern_uid)
) strict;

CREATE UNIQUE INDEX user_identities_user on user_identities (user_id, provider);

CREATE TABLE user_preferences (
  user_id integer not null primary key references users (id) on delete cascade,
  choices text not null
) strict;

CREATE TABLE user_statuses (
  user_id integer primary key references users (id) on delete cascade,
  emoji text not null,
  message text not null,
  availability text not null,
  clear_at integer
) strict;

CREATE TABLE users (
  id integer primary key autoincrement,
  username text not null,
  name text not null,
  email text not null,
  state text not null,
  admin integer not null,
  external integer not null,
  password_hash text,
  can_create_group integer not null,
  projects_limit integer,
  bio text,
  location text,
  skype text,
  linkedin text,
  twitter text,
  website_url text,
  organization text,
  public_email text,
  note text,
  search_text text not null,
  ghost integer not null default 0,
  last_sign_in_at integer,
  last_activity_on text,
  created_at integer not null,
  updated_at integer not null,
  two_factor_enabled integer not null default 0,
  email_unchecked integer not null default 0,
  avatar text,
  feed_generation integer not null default 0
) strict;

CREATE INDEX users_activity_order on users (coalesce(last_activity_on, ''), id);

CREATE UNIQUE INDEX users_email on users (lower(email));

CREATE INDEX users_last_activity on users (last_activity_on, id) where last_activity_on is not null;

CREATE UNIQUE INDEX users_username on users (lower(username));

CREATE TRIGGER users_renamed after update of username, name, state, email, avatar on users begin update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'names_version'; end;

CREATE TABLE variables (
  id integer primary key autoincrement,
  source_type text not null,
  source_id integer not null,
  key text not null,
  sealed_value text not null,
  variable_type text not null default 'env_var',
  protected integer not null default 0,
  masked integer not null default 0,
  hidden integer not null default 0,
  raw integer not null default 0,
  environment_scope text not null default '*',
  description text,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE UNIQUE INDEX variables_key on variables (source_type, source_id, key, environment_scope);

CREATE TABLE work (
  id integer primary key autoincrement,
  name text not null,
  payload text not null,
  unique_key text unique,
  run_at integer not null,
  attempts integer not null default 0,
  locked_until integer,
  last_error text,
  created_at integer not null,
  turn text,
  locked_by text,
  excused_attempts integer not null default 0,
  trace text
) strict;

CREATE INDEX work_due on work (run_at, id);

CREATE INDEX work_turn on work (turn, run_at, id) where turn is not null;

CREATE UNIQUE INDEX work_turn_locked on work (turn) where locked_until is not null;
