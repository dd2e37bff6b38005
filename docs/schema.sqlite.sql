-- A freshly migrated database. Made by: npm run golden

CREATE TABLE assignees (
  target_type text not null,
  target_id integer not null,
  user_id integer not null references users (id) on delete cascade,
  position integer not null,
  target_created_at integer not null,
  primary key (target_type, target_id, user_id)
) strict;

CREATE INDEX assignees_user on assignees (user_id, target_type, target_created_at, target_id);

CREATE TRIGGER assignees_delete_old after delete on assignees when old.target_type = 'Issue' begin update issues set revision = revision + 1 where id = old.target_id; end;

CREATE TRIGGER assignees_insert_new after insert on assignees when new.target_type = 'Issue' begin update issues set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER assignees_update_new after update on assignees when new.target_type = 'Issue' begin update issues set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER assignees_update_old after update on assignees when old.target_type = 'Issue' begin update issues set revision = revision + 1 where id = old.target_id; end;

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

CREATE TRIGGER award_emoji_insert_new after insert on award_emoji when new.target_type = 'Issue' begin update project_counters set issues_version = issues_version + 1 where project_id = (select project_id from issues where id = new.target_id); end;

CREATE TRIGGER award_emoji_update_new after update on award_emoji when new.target_type = 'Issue' begin update project_counters set issues_version = issues_version + 1 where project_id = (select project_id from issues where id = new.target_id); end;

CREATE TRIGGER award_emoji_update_old after update on award_emoji when old.target_type = 'Issue' begin update project_counters set issues_version = issues_version + 1 where project_id = (select project_id from issues where id = old.target_id); end;

CREATE TABLE deploy_key_projects (
  project_id integer not null references projects (id) on delete cascade,
  key_id integer not null references keys (id) on delete cascade,
  can_push integer not null,
  created_at integer not null,
  primary key (project_id, key_id)
) strict;

CREATE INDEX deploy_key_projects_key on deploy_key_projects (key_id, project_id);

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

CREATE INDEX events_actor on events (actor_id, id);

CREATE INDEX events_project on events (project_id, id);

CREATE TABLE instance (
  name text primary key,
  value text not null
) strict;

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
  revision integer not null default 0
) strict;

CREATE INDEX issues_all_created on issues (deleted_at, created_at, id);

CREATE INDEX issues_all_updated on issues (deleted_at, updated_at, id);

CREATE INDEX issues_author on issues (author_id, deleted_at, created_at, id);

CREATE INDEX issues_closed_by on issues (closed_by_id) where closed_by_id is not null;

CREATE INDEX issues_confidential on issues (project_id, author_id) where confidential = 1;

CREATE INDEX issues_created on issues (project_id, deleted_at, created_at, id, confidential);

CREATE UNIQUE INDEX issues_iid on issues (project_id, iid);

CREATE INDEX issues_milestone on issues (milestone_id, deleted_at, created_at, id);

CREATE INDEX issues_project_author on issues (project_id, deleted_at, author_id, created_at, id);

CREATE INDEX issues_state_created on issues (project_id, deleted_at, state, created_at, id, confidential);

CREATE INDEX issues_state_updated on issues (project_id, deleted_at, state, updated_at, id, confidential);

CREATE INDEX issues_updated on issues (project_id, deleted_at, updated_at, id, confidential);

CREATE TRIGGER issues_delete_old after delete on issues begin update project_counters set issues_version = issues_version + 1 where project_id = old.project_id; end;

CREATE TRIGGER issues_insert_new after insert on issues begin update project_counters set issues_version = issues_version + 1 where project_id = new.project_id; end;

CREATE TRIGGER issues_revised after update on issues when new.revision = old.revision begin update issues set revision = revision + 1 where id = new.id; end;

CREATE TRIGGER issues_update_new after update on issues when new.revision <> old.revision begin update project_counters set issues_version = issues_version + 1 where project_id = new.project_id; end;

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
  created_at integer not null
) strict;

CREATE INDEX keys_deploy on keys (id) where user_id is null;

CREATE INDEX keys_fingerprint on keys (fingerprint);

CREATE INDEX keys_user on keys (user_id, id);

CREATE TABLE label_links (
  target_type text not null,
  target_id integer not null,
  label_id integer not null references labels (id) on delete cascade,
  target_created_at integer not null,
  primary key (target_type, target_id, label_id)
) strict;

CREATE INDEX label_links_label on label_links (label_id, target_type, target_created_at, target_id);

CREATE TRIGGER label_links_delete_old after delete on label_links when old.target_type = 'Issue' begin update issues set revision = revision + 1 where id = old.target_id; end;

CREATE TRIGGER label_links_insert_new after insert on label_links when new.target_type = 'Issue' begin update issues set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER label_links_update_new after update on label_links when new.target_type = 'Issue' begin update issues set revision = revision + 1 where id = new.target_id; end;

CREATE TRIGGER label_links_update_old after update on label_links when old.target_type = 'Issue' begin update issues set revision = revision + 1 where id = old.target_id; end;

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

CREATE TABLE merge_requests_closing_issues (
  merge_request_id integer not null,
  issue_id integer not null references issues (id) on delete cascade,
  primary key (issue_id, merge_request_id)
) strict;

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
  deleted_at integer
) strict;

CREATE UNIQUE INDEX namespaces_name on namespaces (parent_id, name) where parent_id is not null and deleted_at is null;

CREATE INDEX namespaces_owner on namespaces (owner_id);

CREATE INDEX namespaces_parent on namespaces (parent_id);

CREATE TABLE notes (
  id integer primary key autoincrement,
  project_id integer not null references projects (id) on delete cascade,
  target_type text not null,
  target_id integer not null,
  author_id integer not null references users (id),
  body text not null,
  system integer not null,
  created_at integer not null,
  updated_at integer not null
) strict;

CREATE INDEX notes_author on notes (author_id, target_type, target_id, system);

CREATE INDEX notes_created on notes (target_type, target_id, created_at, id);

CREATE INDEX notes_project on notes (project_id);

CREATE INDEX notes_updated on notes (target_type, target_id, updated_at, id);

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

CREATE TABLE project_counters (
  project_id integer primary key references projects (id) on delete cascade,
  issue_iid integer not null default 0,
  merge_request_iid integer not null default 0,
  milestone_iid integer not null default 0,
  opened_issues integer not null default 0,
  closed_issues integer not null default 0,
  opened_confidential_issues integer not null default 0,
  closed_confidential_issues integer not null default 0,
  issues_version integer not null default 0
) strict;

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
  wiki_access_level text not null default 'enabled',
  snippets_access_level text not null default 'enabled',
  public_builds integer not null default 1,
  shared_runners_enabled integer not null default 1,
  container_registry_enabled integer not null default 1,
  lfs_enabled integer not null default 1,
  request_access_enabled integer not null default 0,
  only_allow_merge_if_pipeline_succeeds integer not null default 0,
  only_allow_merge_if_all_discussions_are_resolved integer not null default 0,
  forked_from_project_id integer references projects (id) on delete set null,
  repository_storage text not null default 'default',
  created_at integer not null,
  updated_at integer not null,
  last_activity_at integer not null,
  deleted_at integer
) strict;

CREATE INDEX projects_created on projects (created_at, id);

CREATE INDEX projects_creator on projects (creator_id);

CREATE INDEX projects_forked_from on projects (forked_from_project_id);

CREATE UNIQUE INDEX projects_name on projects (namespace_id, name) where deleted_at is null;

CREATE INDEX projects_namespace on projects (namespace_id);

CREATE INDEX projects_visibility on projects (deleted_at, visibility, namespace_id, id);

CREATE TRIGGER projects_renamed after update of full_path on projects begin update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'names_version'; end;

CREATE TABLE recovery_codes (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  code_hash text not null,
  unique (user_id, code_hash)
) strict;

CREATE TABLE routes (
  path text primary key,
  source_type text not null,
  source_id integer not null
) strict;

CREATE UNIQUE INDEX routes_source on routes (source_type, source_id);

CREATE TABLE sessions (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  token_hash text not null unique,
  provider text,
  ip text not null,
  user_agent text not null,
  created_at integer not null,
  signed_in_at integer not null,
  last_seen_at integer not null
) strict;

CREATE INDEX sessions_seen on sessions (last_seen_at);

CREATE INDEX sessions_user on sessions (user_id, id);

CREATE TABLE settings (
  name text primary key,
  value text not null,
  updated_at integer not null,
  updated_by_id integer references users (id) on delete set null
) strict;

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
  created_at integer not null
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
  family text
) strict;

CREATE INDEX tokens_application on tokens (application_id);

CREATE INDEX tokens_death on tokens (dies_at) where dies_at is not null;

CREATE INDEX tokens_family on tokens (family);

CREATE UNIQUE INDEX tokens_refresh on tokens (refresh_hash);

CREATE INDEX tokens_user on tokens (user_id, kind);

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
) strict;

CREATE TABLE user_identities (
  id integer primary key autoincrement,
  user_id integer not null references users (id) on delete cascade,
  provider text not null,
  extern_uid text not null,
  created_at integer not null,
  unique (provider, extern_uid)
) strict;

CREATE UNIQUE INDEX user_identities_user on user_identities (user_id, provider);

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
  email_unchecked integer not null default 0
) strict;

CREATE UNIQUE INDEX users_email on users (lower(email));

CREATE UNIQUE INDEX users_username on users (lower(username));

CREATE TRIGGER users_renamed after update of username, name, state, email on users begin update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'names_version'; end;

CREATE TABLE work (
  id integer primary key autoincrement,
  name text not null,
  payload text not null,
  unique_key text unique,
  run_at integer not null,
  attempts integer not null default 0,
  locked_until integer,
  last_error text,
  created_at integer not null
) strict;

CREATE INDEX work_due on work (run_at, id);
