/** The row types of the tables of pipelines, jobs and runners; conventions as in `schema.ts`. */
import type { Generated } from 'kysely';
import type { Flag } from './schema.ts';

type Id = Generated<number>;

/** `scheduled`, `canceling` and `waiting_for_resource` are inner ones: the API shows others in their place. */
export type JobStatus =
  | 'created'
  | 'waiting_for_resource'
  | 'scheduled'
  | 'pending'
  | 'running'
  | 'canceling'
  | 'success'
  | 'failed'
  | 'canceled'
  | 'skipped'
  | 'manual';

export type PipelineSource =
  | 'push'
  | 'web'
  | 'trigger'
  | 'schedule'
  | 'api'
  | 'merge_request_event'
  /** Of a pipeline of another project. */
  | 'pipeline'
  /** Of a pipeline of its own project, whose part it is. */
  | 'parent_pipeline'
  /** Without jobs: of what other systems say of the commit. */
  | 'external';

export type PipelinesTable = {
  id: Id;
  iid: number;
  project_id: number;
  /** Short name; `refs/merge-requests/1/head` of a merge request. */
  ref: string;
  tag: Flag;
  sha: string;
  before_sha: string;
  status: JobStatus;
  source: PipelineSource;
  /** Its ref was protected when it was made: its jobs get protected variables and runners. */
  protected: Flag;
  user_id: number | null;
  merge_request_id: number | null;
  name: string | null;
  yaml_errors: string | null;
  failure_reason: string | null;
  auto_cancel: Generated<'conservative' | 'interruptible' | 'none'>;
  created_at: number;
  updated_at: number;
  started_at: number | null;
  finished_at: number | null;
  /** Seconds in which jobs ran. */
  duration: number | null;
  /** What it was started by: a pipeline, and the job there. */
  source_pipeline_id: number | null;
  source_job_id: number | null;
  /** The first of those that started one another; null: itself. */
  root_id: number | null;
  /** How many parents are above it in its own project. */
  depth: Generated<number>;
  schedule_id: number | null;
};

export type VariableType = 'env_var' | 'file';

/** Values are sealed (`access/seal.ts`). */
export type PipelineVariablesTable = {
  pipeline_id: number;
  key: string;
  sealed_value: string;
  variable_type: Generated<VariableType>;
  raw: Generated<Flag>;
};

export type StagesTable = {
  id: Id;
  pipeline_id: number;
  name: string;
  position: number;
  status: JobStatus;
};

export type JobConfigsTable = {
  id: Id;
  project_id: number;
  /** SHA-256 of the JSON. */
  digest: string;
  /** JSON object. */
  config: string;
};

export type JobsTable = {
  id: Id;
  project_id: number;
  pipeline_id: number;
  stage_id: number;
  stage: string;
  stage_position: number;
  name: string;
  ref: string;
  tag: Flag;
  status: JobStatus;
  run_when: 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed';
  allow_failure: Flag;
  /** Waits for the jobs that it needs, not for its stage. */
  by_needs: Generated<Flag>;
  /** Another one has taken its place. */
  retried: Generated<Flag>;
  retry_of_id: number | null;
  protected: Flag;
  interruptible: Generated<Flag>;
  /** Starts another pipeline, or goes as one does; no runner ever gets it. */
  bridge: Generated<Flag>;
  /** The pipeline of another project that it goes as. */
  mirrored_pipeline_id: number | null;
  /** Why the pipeline that it was to start was not made; nothing of what another project's files say. */
  downstream_errors: string | null;
  user_id: number | null;
  runner_id: number | null;
  /** Of the machine that runs it. */
  system_id: string | null;
  /** Its runner goes on with `after_script` when it is canceled. */
  cancels_gracefully: Generated<Flag>;
  config_id: number;
  /** JSON array, sorted. */
  tag_list: Generated<string>;
  token_hash: string | null;
  environment: string | null;
  resource_group: string | null;
  /** Hundredths of a percent. */
  coverage: number | null;
  failure_reason: string | null;
  exit_code: number | null;
  /** Seconds. */
  timeout: number | null;
  created_at: number;
  updated_at: number;
  queued_at: number | null;
  /** When a delayed one may begin. */
  scheduled_at: number | null;
  started_at: number | null;
  finished_at: number | null;
  /** When its runner was last heard. */
  seen_at: number | null;
  cancelled_at: number | null;
  erased_at: number | null;
  erased_by_id: number | null;
  artifacts_expire_at: number | null;
  /** Of the finished trace, in bytes; null: none, or it is still written. */
  trace_size: number | null;
  trace_crc: number | null;
  /** 1: its log shows the values of variables. */
  debug_trace: Generated<Flag>;
};

/** Whose artifacts of other pipelines and projects a job takes, as was found when it started. */
export type JobDependenciesTable = { job_id: number; dependency_id: number };

export type JobNeedsTable = { job_id: number; name: string; artifacts: Flag; optional: Flag };

/** What waits for a runner. */
export type PendingJobsTable = {
  job_id: number;
  project_id: number;
  protected: Flag;
  /** JSON array, sorted. */
  tag_list: string;
  created_at: number;
};

export type ResourceGroupsTable = {
  id: Id;
  project_id: number;
  key: string;
  process_mode: Generated<'unordered' | 'oldest_first' | 'newest_first' | 'newest_ready_first'>;
  /** Who holds it. */
  job_id: number | null;
  created_at: number;
  updated_at: number;
};

/** What a job prints, where several services share a bucket. */
export type SharedTracesTable = {
  job_id: number;
  project_id: number;
  /** Bytes, and their CRC-32 as they came. */
  size: number;
  crc: number;
  /** Of all of it, in the bucket; null: it is in its pieces. */
  sha256: string | null;
  /** Since when what is finished waits for the bucket to take it; null: it does not. */
  waits_since: number | null;
};

export type SharedTracePiecesTable = { job_id: number; start: number; bytes: Uint8Array };

/** A process that is about to name bytes, or to take them away. */
export type ByteHoldsTable = {
  project_id: number;
  sha256: string;
  /** Its name. */
  holder: string;
  kind: 'name' | 'remove';
  created_at: number;
};

export type ArtifactsTable = {
  id: Id;
  project_id: number;
  job_id: number;
  /** `archive`, `junit`... */
  file_type: string;
  file_format: 'zip' | 'gzip' | 'raw';
  filename: string;
  size: number;
  sha256: string;
  expire_at: number | null;
  created_at: number;
};

export type JobVariablesTable = { job_id: number; key: string; sealed_value: string; source: string };

export type RunnerType = 'instance_type' | 'group_type' | 'project_type';

export type RunnersTable = {
  id: Id;
  /** SHA-256 of the token, hexadecimal. */
  token_hash: string;
  /** Its first characters, by which a person knows it. */
  token_start: string;
  runner_type: RunnerType;
  description: string | null;
  maintenance_note: string | null;
  active: Generated<Flag>;
  locked: Generated<Flag>;
  run_untagged: Generated<Flag>;
  /** JSON array, sorted. */
  tag_list: Generated<string>;
  access_level: Generated<'not_protected' | 'ref_protected'>;
  /** Seconds. */
  maximum_timeout: number | null;
  creator_id: number | null;
  contacted_at: number | null;
  created_at: number;
  updated_at: number;
};

/** Projects, and groups with all below them, whose jobs a project lets in. */
export type JobTokenProjectsTable = {
  project_id: number;
  target_project_id: number;
  created_at: number;
};
export type JobTokenGroupsTable = {
  project_id: number;
  target_group_id: number;
  created_at: number;
};

export type RunnerProjectsTable = { runner_id: number; project_id: number };
export type RunnerGroupsTable = { runner_id: number; namespace_id: number };

/** The machines that share a runner's token. */
export type RunnerManagersTable = {
  runner_id: number;
  system_id: string;
  version: string | null;
  revision: string | null;
  platform: string | null;
  architecture: string | null;
  executor: string | null;
  ip_address: string | null;
  contacted_at: number;
  created_at: number;
};

export type VariablesTable = {
  id: Id;
  source_type: 'Project' | 'Namespace' | 'Instance';
  /** 0: the instance. */
  source_id: number;
  key: string;
  sealed_value: string;
  variable_type: Generated<VariableType>;
  protected: Generated<Flag>;
  masked: Generated<Flag>;
  hidden: Generated<Flag>;
  raw: Generated<Flag>;
  environment_scope: Generated<string>;
  description: string | null;
  created_at: number;
  updated_at: number;
};

export type TriggersTable = {
  id: Id;
  project_id: number;
  owner_id: number;
  description: string;
  token_hash: string;
  /** Shown to its owner again. */
  sealed_token: string;
  last_used_at: number | null;
  created_at: number;
  updated_at: number;
};

export type PipelineSchedulesTable = {
  id: Id;
  project_id: number;
  owner_id: number | null;
  description: string;
  ref: string;
  cron: string;
  cron_timezone: string;
  active: Flag;
  next_run_at: number | null;
  last_pipeline_id: number | null;
  created_at: number;
  updated_at: number;
};

export type PipelineScheduleVariablesTable = {
  schedule_id: number;
  key: string;
  sealed_value: string;
  variable_type: Generated<VariableType>;
  raw: Generated<Flag>;
};

export type EnvironmentsTable = {
  id: Id;
  project_id: number;
  name: string;
  slug: string;
  external_url: string | null;
  state: 'available' | 'stopping' | 'stopped';
  tier: string;
  description: string | null;
  auto_stop_at: number | null;
  created_at: number;
  updated_at: number;
};

export type DeploymentsTable = {
  id: Id;
  iid: number;
  project_id: number;
  environment_id: number;
  job_id: number | null;
  user_id: number | null;
  ref: string;
  tag: Flag;
  sha: string;
  status: 'created' | 'running' | 'success' | 'failed' | 'canceled' | 'skipped' | 'blocked';
  created_at: number;
  updated_at: number;
  finished_at: number | null;
};

export type CiSchema = {
  pipelines: PipelinesTable;
  pipeline_variables: PipelineVariablesTable;
  stages: StagesTable;
  job_configs: JobConfigsTable;
  jobs: JobsTable;
  job_needs: JobNeedsTable;
  job_dependencies: JobDependenciesTable;
  pending_jobs: PendingJobsTable;
  resource_groups: ResourceGroupsTable;
  artifacts: ArtifactsTable;
  byte_holds: ByteHoldsTable;
  shared_traces: SharedTracesTable;
  shared_trace_pieces: SharedTracePiecesTable;
  job_variables: JobVariablesTable;
  job_token_projects: JobTokenProjectsTable;
  job_token_groups: JobTokenGroupsTable;
  runners: RunnersTable;
  runner_projects: RunnerProjectsTable;
  runner_groups: RunnerGroupsTable;
  runner_managers: RunnerManagersTable;
  variables: VariablesTable;
  triggers: TriggersTable;
  pipeline_schedules: PipelineSchedulesTable;
  pipeline_schedule_variables: PipelineScheduleVariablesTable;
  environments: EnvironmentsTable;
  deployments: DeploymentsTable;
};
