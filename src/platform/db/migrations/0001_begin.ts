import type { MigrationText } from '../ddl_keywords.ts';
import { revisionStatements } from './revision_triggers.ts';

const cascade = 'on delete cascade';

export const begin: MigrationText = {
  name: '0001_begin',
  statements: ({ engine, id, text, integer, end }) => [
    `create table users (
      id ${id},
      username ${text} not null,
      name ${text} not null,
      email ${text} not null,
      state ${text} not null,
      admin ${integer} not null,
      external ${integer} not null,
      password_hash ${text},
      can_create_group ${integer} not null,
      projects_limit ${integer},
      bio ${text},
      location ${text},
      skype ${text},
      linkedin ${text},
      twitter ${text},
      website_url ${text},
      organization ${text},
      public_email ${text},
      note ${text},
      search_text ${text} not null,
      ghost ${integer} not null default 0,
      last_sign_in_at ${integer},
      last_activity_on ${text},
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create unique index users_username on users (lower(username))',
    'create unique index users_email on users (lower(email))',

    `create table tokens (
      id ${id},
      user_id ${integer} not null references users (id) ${cascade},
      kind ${text} not null,
      name ${text} not null,
      token_hash ${text} not null unique,
      scopes ${text} not null,
      revoked ${integer} not null default 0,
      expires_at ${text},
      last_used_at ${integer},
      created_at ${integer} not null
    ) ${end}`,
    'create index tokens_user on tokens (user_id, kind)',

    `create table namespaces (
      id ${id},
      kind ${text} not null,
      parent_id ${integer} references namespaces (id) ${cascade},
      owner_id ${integer} references users (id) ${cascade},
      path ${text} not null,
      full_path ${text} not null,
      name ${text} not null,
      description ${text} not null,
      visibility ${text} not null,
      lfs_enabled ${integer} not null default 1,
      request_access_enabled ${integer} not null default 0,
      created_at ${integer} not null,
      updated_at ${integer} not null,
      deleted_at ${integer}
    ) ${end}`,
    'create index namespaces_parent on namespaces (parent_id)',
    `create unique index namespaces_name on namespaces (parent_id, name)
      where parent_id is not null and deleted_at is null`,
    'create index namespaces_owner on namespaces (owner_id)',

    `create table routes (
      path ${text} primary key,
      source_type ${text} not null,
      source_id ${integer} not null
    ) ${end}`,
    'create unique index routes_source on routes (source_type, source_id)',

    `create table projects (
      id ${id},
      namespace_id ${integer} not null references namespaces (id) ${cascade},
      path ${text} not null,
      full_path ${text} not null,
      name ${text} not null,
      description ${text},
      visibility ${text} not null,
      creator_id ${integer} references users (id) on delete set null,
      default_branch ${text},
      archived ${integer} not null default 0,
      issues_access_level ${text} not null default 'enabled',
      merge_requests_access_level ${text} not null default 'enabled',
      builds_access_level ${text} not null default 'enabled',
      repository_access_level ${text} not null default 'enabled',
      wiki_access_level ${text} not null default 'enabled',
      snippets_access_level ${text} not null default 'enabled',
      public_builds ${integer} not null default 1,
      shared_runners_enabled ${integer} not null default 1,
      container_registry_enabled ${integer} not null default 1,
      lfs_enabled ${integer} not null default 1,
      request_access_enabled ${integer} not null default 0,
      only_allow_merge_if_pipeline_succeeds ${integer} not null default 0,
      only_allow_merge_if_all_discussions_are_resolved ${integer} not null default 0,
      forked_from_project_id ${integer} references projects (id) on delete set null,
      repository_storage ${text} not null default 'default',
      created_at ${integer} not null,
      updated_at ${integer} not null,
      last_activity_at ${integer} not null,
      deleted_at ${integer}
    ) ${end}`,
    'create index projects_namespace on projects (namespace_id)',
    'create index projects_creator on projects (creator_id)',
    'create index projects_forked_from on projects (forked_from_project_id)',
    'create index projects_visibility on projects (deleted_at, visibility, namespace_id, id)',
    'create index projects_created on projects (created_at, id)',
    'create unique index projects_name on projects (namespace_id, name) where deleted_at is null',

    `create table project_counters (
      project_id ${integer} primary key references projects (id) ${cascade},
      issue_iid ${integer} not null default 0,
      merge_request_iid ${integer} not null default 0,
      milestone_iid ${integer} not null default 0,
      opened_issues ${integer} not null default 0,
      closed_issues ${integer} not null default 0,
      opened_confidential_issues ${integer} not null default 0,
      closed_confidential_issues ${integer} not null default 0,
      issues_version ${integer} not null default 0
    ) ${end}`,

    `create table members (
      id ${id},
      user_id ${integer} not null references users (id) ${cascade},
      source_type ${text} not null,
      source_id ${integer} not null,
      access_level ${integer} not null,
      expires_at ${text},
      created_by_id ${integer},
      created_at ${integer} not null
    ) ${end}`,
    'create unique index members_of_source on members (source_type, source_id, user_id)',
    'create index members_user on members (user_id, source_type, source_id)',

    `create table labels (
      id ${id},
      project_id ${integer} references projects (id) ${cascade},
      group_id ${integer} references namespaces (id) ${cascade},
      title ${text} not null,
      color ${text} not null,
      description ${text},
      priority ${integer},
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create unique index labels_of_project on labels (project_id, title)',
    'create unique index labels_of_group on labels (group_id, title)',
    'create index labels_title on labels (title)',

    `create table label_links (
      target_type ${text} not null,
      target_id ${integer} not null,
      label_id ${integer} not null references labels (id) ${cascade},
      target_created_at ${integer} not null,
      primary key (target_type, target_id, label_id)
    ) ${end}`,
    'create index label_links_label on label_links (label_id, target_type, target_created_at, target_id)',

    `create table assignees (
      target_type ${text} not null,
      target_id ${integer} not null,
      user_id ${integer} not null references users (id) ${cascade},
      position ${integer} not null,
      target_created_at ${integer} not null,
      primary key (target_type, target_id, user_id)
    ) ${end}`,
    'create index assignees_user on assignees (user_id, target_type, target_created_at, target_id)',

    `create table milestones (
      id ${id},
      iid ${integer} not null,
      project_id ${integer} references projects (id) ${cascade},
      group_id ${integer} references namespaces (id) ${cascade},
      title ${text} not null,
      description ${text},
      state ${text} not null,
      start_date ${text},
      due_date ${text},
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create unique index milestones_of_project on milestones (project_id, iid)',
    'create unique index milestones_of_group on milestones (group_id, iid)',
    'create index milestones_title on milestones (title)',

    `create table issues (
      id ${id},
      project_id ${integer} not null references projects (id) ${cascade},
      iid ${integer} not null,
      title ${text} not null,
      description ${text},
      state ${text} not null,
      author_id ${integer} not null references users (id),
      milestone_id ${integer} references milestones (id) on delete set null,
      confidential ${integer} not null,
      due_date ${text},
      time_estimate ${integer} not null default 0,
      total_time_spent ${integer} not null default 0,
      user_notes_count ${integer} not null default 0,
      upvotes ${integer} not null default 0,
      downvotes ${integer} not null default 0,
      moved_to_id ${integer},
      closed_at ${integer},
      closed_by_id ${integer},
      created_at ${integer} not null,
      updated_at ${integer} not null,
      deleted_at ${integer},
      revision ${integer} not null default 0
    ) ${end}`,
    'create unique index issues_iid on issues (project_id, iid)',
    'create index issues_created on issues (project_id, deleted_at, created_at, id, confidential)',
    'create index issues_updated on issues (project_id, deleted_at, updated_at, id, confidential)',
    'create index issues_state_created on issues (project_id, deleted_at, state, created_at, id, confidential)',
    'create index issues_state_updated on issues (project_id, deleted_at, state, updated_at, id, confidential)',
    'create index issues_author on issues (author_id, deleted_at, created_at, id)',
    'create index issues_project_author on issues (project_id, deleted_at, author_id, created_at, id)',
    'create index issues_milestone on issues (milestone_id, deleted_at, created_at, id)',
    'create index issues_closed_by on issues (closed_by_id) where closed_by_id is not null',
    'create index issues_all_created on issues (deleted_at, created_at, id)',
    'create index issues_all_updated on issues (deleted_at, updated_at, id)',
    'create index issues_confidential on issues (project_id, author_id) where confidential = 1',

    `create table merge_requests_closing_issues (
      merge_request_id ${integer} not null,
      issue_id ${integer} not null references issues (id) ${cascade},
      primary key (issue_id, merge_request_id)
    ) ${end}`,

    `create table issue_search (
      issue_id ${integer} primary key references issues (id) ${cascade},
      title ${text} not null,
      description ${text} not null,
      indexed ${integer} not null default 0
    ) ${end}`,
    'create index issue_search_waiting on issue_search (issue_id) where indexed = 0',
    // Contentless index: the folded text is in issue_search.
    ...(engine === 'sqlite'
      ? [
          `create virtual table issue_search_index using fts5 (title, description, content = '',
            contentless_delete = 1, detail = full, tokenize = 'trigram case_sensitive 1')`,
        ]
      : []),

    `create table notes (
      id ${id},
      project_id ${integer} not null references projects (id) ${cascade},
      target_type ${text} not null,
      target_id ${integer} not null,
      author_id ${integer} not null references users (id),
      body ${text} not null,
      system ${integer} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create index notes_created on notes (target_type, target_id, created_at, id)',
    'create index notes_updated on notes (target_type, target_id, updated_at, id)',
    'create index notes_project on notes (project_id)',
    'create index notes_author on notes (author_id, target_type, target_id, system)',

    `create table mentions (
      target_type ${text} not null,
      target_id ${integer} not null,
      note_id ${integer} not null,
      user_id ${integer} not null references users (id) ${cascade},
      primary key (target_type, target_id, user_id, note_id)
    ) ${end}`,
    'create index mentions_user on mentions (user_id)',

    `create table award_emoji (
      id ${id},
      name ${text} not null,
      user_id ${integer} not null references users (id) ${cascade},
      target_type ${text} not null,
      target_id ${integer} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create unique index award_emoji_once on award_emoji (target_type, target_id, user_id, name)',
    'create index award_emoji_user on award_emoji (user_id, target_type, name, target_id)',

    `create table subscriptions (
      user_id ${integer} not null references users (id) ${cascade},
      target_type ${text} not null,
      target_id ${integer} not null,
      subscribed ${integer} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null,
      primary key (target_type, target_id, user_id)
    ) ${end}`,
    'create index subscriptions_user on subscriptions (user_id)',

    `create table todos (
      id ${id},
      user_id ${integer} not null references users (id) ${cascade},
      author_id ${integer} not null references users (id),
      project_id ${integer} not null references projects (id) ${cascade},
      target_type ${text} not null,
      target_id ${integer} not null,
      action ${text} not null,
      note_id ${integer},
      body ${text} not null,
      state ${text} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    `create unique index todos_pending on todos (user_id, target_type, target_id) where state = 'pending'`,
    'create index todos_user on todos (user_id, state, id)',
    'create index todos_target on todos (target_type, target_id)',
    'create index todos_project on todos (project_id)',
    'create index todos_author on todos (author_id)',

    `create table timelogs (
      id ${id},
      target_type ${text} not null,
      target_id ${integer} not null,
      user_id ${integer} not null references users (id),
      time_spent ${integer} not null,
      created_at ${integer} not null
    ) ${end}`,
    'create index timelogs_target on timelogs (target_type, target_id)',
    'create index timelogs_user on timelogs (user_id)',

    `create table user_agent_details (
      target_type ${text} not null,
      target_id ${integer} not null,
      user_agent ${text} not null,
      ip_address ${text} not null,
      primary key (target_type, target_id)
    ) ${end}`,

    `create table events (
      id ${id},
      created_at ${integer} not null,
      actor_id ${integer},
      sudo_by_id ${integer},
      project_id ${integer},
      kind ${text} not null,
      target_type ${text} not null,
      target_id ${integer} not null,
      data ${text} not null
    ) ${end}`,
    'create index events_project on events (project_id, id)',
    'create index events_actor on events (actor_id, id)',

    `create table work (
      id ${id},
      name ${text} not null,
      payload ${text} not null,
      unique_key ${text} unique,
      run_at ${integer} not null,
      attempts ${integer} not null default 0,
      locked_until ${integer},
      last_error ${text},
      created_at ${integer} not null
    ) ${end}`,
    'create index work_due on work (run_at, id)',

    `create table instance (
      name ${text} primary key,
      value ${text} not null
    ) ${end}`,

    ...revisionStatements(engine),
  ],
};
