import type { Ddl, MigrationText } from '../ddl_keywords.ts';

const cascade = 'on delete cascade';

const projectColumns = ({ text, integer }: Ddl): string[] => [
  `alter table projects add column ci_config_path ${text}`,
  // Seconds.
  `alter table projects add column build_timeout ${integer} not null default 3600`,
  `alter table projects add column auto_cancel_pending_pipelines ${text} not null default 'enabled'`,
  `alter table projects add column ci_default_git_depth ${integer} not null default 20`,
  `alter table projects add column keep_latest_artifact ${integer} not null default 1`,
  // SHA-256 of the token that registers runners; null: none.
  `alter table projects add column runners_token_hash ${text}`,
  `alter table namespaces add column runners_token_hash ${text}`,
  'create unique index projects_runners_token on projects (runners_token_hash) where runners_token_hash is not null',
  'create unique index namespaces_runners_token on namespaces (runners_token_hash) where runners_token_hash is not null',
  `alter table project_counters add column pipeline_iid ${integer} not null default 0`,
  `alter table project_counters add column deployment_iid ${integer} not null default 0`,
];

const pipelines = ({ id, text, integer, end }: Ddl): string[] => [
  `create table pipelines (
    id ${id},
    iid ${integer} not null,
    project_id ${integer} not null references projects (id) ${cascade},
    ref ${text} not null,
    tag ${integer} not null,
    sha ${text} not null,
    before_sha ${text} not null,
    status ${text} not null,
    source ${text} not null,
    protected ${integer} not null,
    user_id ${integer} references users (id) on delete set null,
    merge_request_id ${integer} references merge_requests (id) on delete set null,
    name ${text},
    yaml_errors ${text},
    failure_reason ${text},
    auto_cancel ${text} not null default 'conservative',
    created_at ${integer} not null,
    updated_at ${integer} not null,
    started_at ${integer},
    finished_at ${integer},
    duration ${integer}
  ) ${end}`,
  'create unique index pipelines_iid on pipelines (project_id, iid)',
  'create index pipelines_project on pipelines (project_id, id)',
  'create index pipelines_ref on pipelines (project_id, ref, status, id)',
  'create index pipelines_sha on pipelines (project_id, sha, id)',
  'create index pipelines_status on pipelines (project_id, status, id)',
  'create index pipelines_user on pipelines (user_id, id)',
  'create index pipelines_merge_request on pipelines (merge_request_id, id) where merge_request_id is not null',
  `create table pipeline_variables (
    pipeline_id ${integer} not null references pipelines (id) ${cascade},
    key ${text} not null,
    sealed_value ${text} not null,
    variable_type ${text} not null default 'env_var',
    raw ${integer} not null default 0,
    primary key (pipeline_id, key)
  ) ${end}`,
  `create table stages (
    id ${id},
    pipeline_id ${integer} not null references pipelines (id) ${cascade},
    name ${text} not null,
    position ${integer} not null,
    status ${text} not null
  ) ${end}`,
  'create unique index stages_position on stages (pipeline_id, position)',
];

const jobs = ({ id, text, integer, end }: Ddl): string[] => [
  // Job definitions from the CI file, as JSON; jobs with equal definitions share a row.
  `create table job_configs (
    id ${id},
    project_id ${integer} not null references projects (id) ${cascade},
    digest ${text} not null,
    config ${text} not null
  ) ${end}`,
  'create unique index job_configs_digest on job_configs (project_id, digest)',
  // Named run_when because "when" is an SQL keyword.
  `create table jobs (
    id ${id},
    project_id ${integer} not null references projects (id) ${cascade},
    pipeline_id ${integer} not null references pipelines (id) ${cascade},
    stage_id ${integer} not null references stages (id) ${cascade},
    stage ${text} not null,
    stage_position ${integer} not null,
    name ${text} not null,
    ref ${text} not null,
    tag ${integer} not null,
    status ${text} not null,
    run_when ${text} not null,
    allow_failure ${integer} not null,
    by_needs ${integer} not null default 0,
    retried ${integer} not null default 0,
    retry_of_id ${integer},
    protected ${integer} not null,
    interruptible ${integer} not null default 0,
    user_id ${integer} references users (id) on delete set null,
    runner_id ${integer},
    system_id ${text},
    config_id ${integer} not null references job_configs (id),
    tag_list ${text} not null default '[]',
    token_hash ${text},
    environment ${text},
    resource_group ${text},
    coverage ${integer},
    failure_reason ${text},
    exit_code ${integer},
    timeout ${integer},
    created_at ${integer} not null,
    updated_at ${integer} not null,
    queued_at ${integer},
    scheduled_at ${integer},
    started_at ${integer},
    finished_at ${integer},
    seen_at ${integer},
    cancelled_at ${integer},
    erased_at ${integer},
    erased_by_id ${integer} references users (id) on delete set null,
    artifacts_expire_at ${integer},
    trace_size ${integer},
    trace_crc ${integer}
  ) ${end}`,
  'create index jobs_project on jobs (project_id, id)',
  'create index jobs_project_status on jobs (project_id, status, id)',
  'create index jobs_pipeline on jobs (pipeline_id, stage_position, id)',
  'create index jobs_pipeline_name on jobs (pipeline_id, name, id)',
  'create index jobs_stage on jobs (stage_id)',
  'create index jobs_config on jobs (config_id)',
  'create index jobs_user on jobs (user_id)',
  'create index jobs_runner on jobs (runner_id, id) where runner_id is not null',
  `create index jobs_running on jobs (status, seen_at) where status in ('running', 'canceling')`,
  `create index jobs_scheduled on jobs (scheduled_at) where status = 'scheduled'`,
  'create unique index jobs_token on jobs (token_hash) where token_hash is not null',
  'create index jobs_erased_by on jobs (erased_by_id) where erased_by_id is not null',
  `create table job_needs (
    job_id ${integer} not null references jobs (id) ${cascade},
    name ${text} not null,
    artifacts ${integer} not null,
    optional ${integer} not null,
    primary key (job_id, name)
  ) ${end}`,
  // The queue of jobs that wait for a runner. Tags are a sorted JSON array.
  `create table pending_jobs (
    job_id ${integer} primary key references jobs (id) ${cascade},
    project_id ${integer} not null references projects (id) ${cascade},
    protected ${integer} not null,
    tag_list ${text} not null,
    created_at ${integer} not null
  ) ${end}`,
  'create index pending_jobs_project on pending_jobs (project_id, job_id)',
  // Runs at most one job of a group at a time.
  `create table resource_groups (
    id ${id},
    project_id ${integer} not null references projects (id) ${cascade},
    key ${text} not null,
    process_mode ${text} not null default 'unordered',
    job_id ${integer},
    created_at ${integer} not null,
    updated_at ${integer} not null
  ) ${end}`,
  'create unique index resource_groups_key on resource_groups (project_id, key)',
  `create table artifacts (
    id ${id},
    project_id ${integer} not null references projects (id) ${cascade},
    job_id ${integer} not null references jobs (id) ${cascade},
    file_type ${text} not null,
    file_format ${text} not null,
    filename ${text} not null,
    size ${integer} not null,
    sha256 ${text} not null,
    expire_at ${integer},
    created_at ${integer} not null
  ) ${end}`,
  'create unique index artifacts_type on artifacts (job_id, file_type)',
  'create index artifacts_project on artifacts (project_id, sha256)',
  'create index artifacts_expire on artifacts (expire_at) where expire_at is not null',
  // Variables from a dotenv report, for dependent jobs.
  `create table job_variables (
    job_id ${integer} not null references jobs (id) ${cascade},
    key ${text} not null,
    sealed_value ${text} not null,
    source ${text} not null,
    primary key (job_id, key)
  ) ${end}`,
];

const runners = ({ id, text, integer, end }: Ddl): string[] => [
  `create table runners (
    id ${id},
    token_hash ${text} not null unique,
    token_start ${text} not null,
    runner_type ${text} not null,
    description ${text},
    maintenance_note ${text},
    active ${integer} not null default 1,
    locked ${integer} not null default 0,
    run_untagged ${integer} not null default 1,
    tag_list ${text} not null default '[]',
    access_level ${text} not null default 'not_protected',
    maximum_timeout ${integer},
    creator_id ${integer} references users (id) on delete set null,
    contacted_at ${integer},
    created_at ${integer} not null,
    updated_at ${integer} not null
  ) ${end}`,
  'create index runners_type on runners (runner_type, id)',
  'create index runners_creator on runners (creator_id)',
  `create table runner_projects (
    runner_id ${integer} not null references runners (id) ${cascade},
    project_id ${integer} not null references projects (id) ${cascade},
    primary key (runner_id, project_id)
  ) ${end}`,
  'create index runner_projects_project on runner_projects (project_id, runner_id)',
  `create table runner_groups (
    runner_id ${integer} not null references runners (id) ${cascade},
    namespace_id ${integer} not null references namespaces (id) ${cascade},
    primary key (runner_id, namespace_id)
  ) ${end}`,
  'create index runner_groups_namespace on runner_groups (namespace_id, runner_id)',
  `create table runner_managers (
    runner_id ${integer} not null references runners (id) ${cascade},
    system_id ${text} not null,
    version ${text},
    revision ${text},
    platform ${text},
    architecture ${text},
    executor ${text},
    ip_address ${text},
    contacted_at ${integer} not null,
    created_at ${integer} not null,
    primary key (runner_id, system_id)
  ) ${end}`,
];

const settings = ({ id, text, integer, end }: Ddl): string[] => [
  // source_id is 0 for the instance.
  `create table variables (
    id ${id},
    source_type ${text} not null,
    source_id ${integer} not null,
    key ${text} not null,
    sealed_value ${text} not null,
    variable_type ${text} not null default 'env_var',
    protected ${integer} not null default 0,
    masked ${integer} not null default 0,
    hidden ${integer} not null default 0,
    raw ${integer} not null default 0,
    environment_scope ${text} not null default '*',
    description ${text},
    created_at ${integer} not null,
    updated_at ${integer} not null
  ) ${end}`,
  'create unique index variables_key on variables (source_type, source_id, key, environment_scope)',
  `create table triggers (
    id ${id},
    project_id ${integer} not null references projects (id) ${cascade},
    owner_id ${integer} not null references users (id) ${cascade},
    description ${text} not null,
    token_hash ${text} not null unique,
    sealed_token ${text} not null,
    last_used_at ${integer},
    created_at ${integer} not null,
    updated_at ${integer} not null
  ) ${end}`,
  'create index triggers_project on triggers (project_id, id)',
  'create index triggers_owner on triggers (owner_id)',
  `create table pipeline_schedules (
    id ${id},
    project_id ${integer} not null references projects (id) ${cascade},
    owner_id ${integer} references users (id) on delete set null,
    description ${text} not null,
    ref ${text} not null,
    cron ${text} not null,
    cron_timezone ${text} not null,
    active ${integer} not null,
    next_run_at ${integer},
    last_pipeline_id ${integer},
    created_at ${integer} not null,
    updated_at ${integer} not null
  ) ${end}`,
  'create index pipeline_schedules_project on pipeline_schedules (project_id, id)',
  'create index pipeline_schedules_next on pipeline_schedules (next_run_at) where active = 1',
  'create index pipeline_schedules_owner on pipeline_schedules (owner_id)',
  `create table pipeline_schedule_variables (
    schedule_id ${integer} not null references pipeline_schedules (id) ${cascade},
    key ${text} not null,
    sealed_value ${text} not null,
    variable_type ${text} not null default 'env_var',
    raw ${integer} not null default 0,
    primary key (schedule_id, key)
  ) ${end}`,
  `create table environments (
    id ${id},
    project_id ${integer} not null references projects (id) ${cascade},
    name ${text} not null,
    slug ${text} not null,
    external_url ${text},
    state ${text} not null,
    tier ${text} not null,
    description ${text},
    auto_stop_at ${integer},
    created_at ${integer} not null,
    updated_at ${integer} not null
  ) ${end}`,
  'create unique index environments_name on environments (project_id, name)',
  'create index environments_stop on environments (auto_stop_at) where auto_stop_at is not null',
  `create table deployments (
    id ${id},
    iid ${integer} not null,
    project_id ${integer} not null references projects (id) ${cascade},
    environment_id ${integer} not null references environments (id) ${cascade},
    job_id ${integer} references jobs (id) on delete set null,
    user_id ${integer} references users (id) on delete set null,
    ref ${text} not null,
    tag ${integer} not null,
    sha ${text} not null,
    status ${text} not null,
    created_at ${integer} not null,
    updated_at ${integer} not null,
    finished_at ${integer}
  ) ${end}`,
  'create unique index deployments_iid on deployments (project_id, iid)',
  'create index deployments_environment on deployments (environment_id, id)',
  'create index deployments_job on deployments (job_id)',
  'create index deployments_user on deployments (user_id)',
];

export const ci: MigrationText = {
  name: '0012_ci',
  statements: (ddl) => [
    ...projectColumns(ddl),
    ...pipelines(ddl),
    ...jobs(ddl),
    ...runners(ddl),
    ...settings(ddl),
  ],
};
