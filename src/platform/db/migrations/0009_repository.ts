import type { MigrationText } from '../ddl_keywords.ts';

const cascade = 'on delete cascade';

export const repository: MigrationText = {
  name: '0009_repository',
  statements: ({ id, text, integer, end }) => [
    // How merge requests are merged.
    `alter table projects add column merge_method ${text} not null default 'merge'`,
    `alter table projects add column squash_option ${text} not null default 'default_off'`,
    `alter table projects add column remove_source_branch_after_merge ${integer} not null default 1`,
    // Root of the fork network; forks of one network can exchange merge requests. null: the project itself.
    `alter table projects add column fork_network_id ${integer}`,
    'create index projects_fork_network on projects (fork_network_id) where fork_network_id is not null',

    // Ref changes in progress: written before git moves refs, deleted by the transaction that completes the change.
    `create table git_operations (
      id ${id},
      project_id ${integer} not null references projects (id) ${cascade},
      user_id ${integer} references users (id) on delete set null,
      kind ${text} not null,
      updates ${text} not null,
      data ${text} not null,
      process ${text} not null,
      created_at ${integer} not null
    ) ${end}`,
    'create index git_operations_project on git_operations (project_id)',
    'create index git_operations_created on git_operations (created_at)',
    'create index git_operations_user on git_operations (user_id)',

    // Names may contain *. Levels: 0 nobody, 30 developers, 40 masters.
    `create table protected_branches (
      id ${id},
      project_id ${integer} not null references projects (id) ${cascade},
      name ${text} not null,
      push_access_level ${integer} not null,
      merge_access_level ${integer} not null,
      allow_force_push ${integer} not null default 0,
      created_at ${integer} not null
    ) ${end}`,
    'create unique index protected_branches_name on protected_branches (project_id, name)',
    `create table protected_tags (
      id ${id},
      project_id ${integer} not null references projects (id) ${cascade},
      name ${text} not null,
      create_access_level ${integer} not null,
      created_at ${integer} not null
    ) ${end}`,
    'create unique index protected_tags_name on protected_tags (project_id, name)',

    // Statuses of commits reported by external systems.
    `create table commit_statuses (
      id ${id},
      project_id ${integer} not null references projects (id) ${cascade},
      sha ${text} not null,
      ref ${text} not null,
      name ${text} not null,
      status ${text} not null,
      target_url ${text},
      description ${text},
      coverage ${integer},
      allow_failure ${integer} not null default 0,
      author_id ${integer} not null references users (id) ${cascade},
      created_at ${integer} not null,
      started_at ${integer},
      finished_at ${integer}
    ) ${end}`,
    'create index commit_statuses_sha on commit_statuses (project_id, sha, id)',
    'create index commit_statuses_author on commit_statuses (author_id)',

    `create table commit_comments (
      id ${id},
      project_id ${integer} not null references projects (id) ${cascade},
      sha ${text} not null,
      author_id ${integer} not null references users (id) ${cascade},
      note ${text} not null,
      path ${text},
      line ${integer},
      line_type ${text},
      created_at ${integer} not null
    ) ${end}`,
    'create index commit_comments_sha on commit_comments (project_id, sha, id)',
    'create index commit_comments_author on commit_comments (author_id)',

    `create table releases (
      id ${id},
      project_id ${integer} not null references projects (id) ${cascade},
      tag ${text} not null,
      name ${text},
      description ${text},
      sha ${text},
      author_id ${integer} references users (id) on delete set null,
      created_at ${integer} not null,
      released_at ${integer} not null
    ) ${end}`,
    'create unique index releases_tag on releases (project_id, tag)',
    'create index releases_released on releases (project_id, released_at, id)',
    'create index releases_author on releases (author_id)',
    `create table release_links (
      id ${id},
      release_id ${integer} not null references releases (id) ${cascade},
      name ${text} not null,
      url ${text} not null,
      filepath ${text},
      link_type ${text} not null default 'other'
    ) ${end}`,
    'create unique index release_links_name on release_links (release_id, name)',
    'create unique index release_links_url on release_links (release_id, url)',

    // External services of a project, such as an issue tracker. Properties are a JSON object.
    `create table integrations (
      id ${id},
      project_id ${integer} not null references projects (id) ${cascade},
      slug ${text} not null,
      active ${integer} not null,
      properties ${text} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create unique index integrations_slug on integrations (project_id, slug)',
  ],
};
