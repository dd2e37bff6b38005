import type { MigrationText } from '../ddl_keywords.ts';

const flags = [
  'push_events',
  'tag_push_events',
  'issues_events',
  'confidential_issues_events',
  'merge_requests_events',
  'note_events',
  'confidential_note_events',
  'job_events',
  'pipeline_events',
  'wiki_page_events',
  'deployment_events',
  'releases_events',
  'member_events',
  'emoji_events',
  'feature_flag_events',
  'repository_update_events',
  'enable_ssl_verification',
];

/**
 * Hooks of projects, of groups, and (neither) of the instance; the changes that they deliver, the pending deliveries
 * and the log of past ones. `hooks_version` of the instance rises with every change of the hooks of any project.
 */
export const hooks: MigrationText = {
  name: '0056_hooks',
  statements: ({ id, integer, text, end, engine }) => [
    `create table hooks (
      id ${id},
      project_id ${integer} references projects (id) on delete cascade,
      group_id ${integer} references namespaces (id) on delete cascade,
      url ${text} not null,
      name ${text},
      description ${text},
      ${flags.map((flag) => `${flag} ${integer} not null,`).join('\n      ')}
      push_events_branch_filter ${text},
      branch_filter_strategy ${text} not null,
      custom_webhook_template ${text},
      sealed_token ${text},
      sealed_signing_token ${text},
      sealed_url_variables ${text},
      sealed_custom_headers ${text},
      uuid ${text} not null,
      failures ${integer} not null default 0,
      disabled_until ${integer},
      created_at ${integer} not null,
      updated_at ${integer} not null,
      check (project_id is null or group_id is null)
    ) ${end}`,
    'create index hooks_project on hooks (project_id, id) where project_id is not null',
    'create index hooks_group on hooks (group_id, id) where group_id is not null',
    'create index hooks_system on hooks (id) where project_id is null and group_id is null',
    `insert into instance (name, value) values ('hooks_version', '0')`,

    `create table hook_events (
      id ${id},
      event_id ${integer},
      project_id ${integer},
      trigger_name ${text} not null,
      uuid ${text} not null,
      snapshot ${text} not null,
      created_at ${integer} not null
    ) ${end}`,
    'create index hook_events_created on hook_events (created_at)',

    `create table hook_deliveries (
      id ${id},
      hook_id ${integer} not null references hooks (id) on delete cascade,
      hook_event_id ${integer} not null references hook_events (id) on delete cascade,
      target ${text} not null,
      attempts ${integer} not null default 0,
      next_attempt_at ${integer} not null
    ) ${end}`,
    'create index hook_deliveries_target on hook_deliveries (hook_id, target, id)',
    'create index hook_deliveries_event on hook_deliveries (hook_event_id)',

    `create table hook_logs (
      id ${id},
      hook_id ${integer} not null references hooks (id) on delete cascade,
      delivery_uuid ${text} not null,
      event_uuid ${text} not null,
      trigger_name ${text} not null,
      event_name ${text} not null,
      url ${text} not null,
      request_headers ${text} not null,
      request_data ${text} not null,
      response_headers ${text} not null,
      response_body ${text} not null,
      response_status ${integer},
      error ${text},
      execution_duration ${integer} not null,
      created_at ${integer} not null
    ) ${end}`,
    'create index hook_logs_hook on hook_logs (hook_id, id)',
    'create index hook_logs_created on hook_logs (created_at)',
    ...(engine === 'sqlite' ? sqliteTriggers : postgresTriggers),
  ],
};

const raise = `update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'hooks_version'`;

/** Moves of projects and groups change which hooks of groups they have. */
const moves = [
  ['projects', 'namespace_id'],
  ['namespaces', 'parent_id'],
] as const;

const sqliteTriggers = moves.map(
  ([table, column]) =>
    `create trigger ${table}_moved_for_hooks after update of ${column} on ${table}
      when new.${column} is not old.${column} begin ${raise}; end`,
);

const postgresTriggers = [
  `create function raise_hooks_version() returns trigger language plpgsql as $$ begin ${raise}; return null; end $$`,
  ...moves.map(
    ([table, column]) =>
      `create trigger ${table}_moved_for_hooks after update of ${column} on ${table} for each row
        when (new.${column} is distinct from old.${column}) execute function raise_hooks_version()`,
  ),
];
