/** Row types of the tables of pipelines, jobs and artifacts; conventions as in `database.ts`. */
import type { Generated } from 'kysely';
import type { Flag, Id } from './column_types.ts';
import type { DeploymentMergeRequestsTable, DeploymentsTable, EnvironmentsTable } from './environments.ts';
import type { RunnerGroupsTable, RunnerManagersTable, RunnerProjectsTable, RunnersTable } from './runners.ts';

/** `scheduled`, `canceling` and `waiting_for_resource` are internal: the API shows other statuses in their place. */
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
  /** Started by a pipeline of another project. */
  | 'pipeline'
  /** Child pipeline of a pipeline in the same project. */
  | 'parent_pipeline'
  /** Pipeline without jobs: only commit statuses from external systems. */
  | 'external';

export type PipelinesTable = {
  id: Id;
  iid: number;
  project_id: number;
  /** Short name; `refs/merge-requests/1/head` for a merge request. */
  ref: string;
  tag: Flag;
  sha: string;
  before_sha: string;
  status: JobStatus;
  source: PipelineSource;
  /** The ref was protected when the pipeline was created, so its jobs get protected variables and runners. */
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
  /** Seconds during which jobs ran. */
  duration: number | null;
  /** Upstream pipeline. */
  source_pipeline_id: number | null;
  /** Job of the upstream pipeline that started this one. */
  source_job_id: number | null;
  /** Root of the tree of pipelines that started one another; null: itself. */
  root_id: number | null;
  /** Number of parent pipelines in the same project. */
  depth: Generated<number>;
  schedule_id: number | null;
};

export type VariableType = 'env_var' | 'file';

/** Values are sealed (`core/access/credentials/encrypt_secrets.ts`). */
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
  /** Waits for the jobs that it needs instead of its stage. */
  by_needs: Generated<Flag>;
  /** Replaced by a newer job. */
  retried: Generated<Flag>;
  retry_of_id: number | null;
  protected: Flag;
  interruptible: Generated<Flag>;
  /** Starts a downstream pipeline or mirrors one; no runner receives it. */
  bridge: Generated<Flag>;
  /** The upstream pipeline whose status the bridge mirrors. */
  mirrored_pipeline_id: number | null;
  /** Why the downstream pipeline was not created. Reveals nothing of another project's files. */
  downstream_errors: string | null;
  user_id: number | null;
  runner_id: number | null;
  /** Id of the machine that runs the job. */
  system_id: string | null;
  /** Its runner executes `after_script` when the job is canceled. */
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
  /** When a delayed job may start. */
  scheduled_at: number | null;
  started_at: number | null;
  finished_at: number | null;
  /** When its runner last reported. */
  seen_at: number | null;
  cancelled_at: number | null;
  erased_at: number | null;
  erased_by_id: number | null;
  artifacts_expire_at: number | null;
  /** Bytes of the finished log; null: none, or still being written. */
  trace_size: number | null;
  trace_crc: number | null;
  /** Random part of the log's file name; null for a job of an earlier version, whose file is named by its id only. */
  trace_key: Generated<string | null>;
  /** 1: the log shows variable values. */
  debug_trace: Generated<Flag>;
};

/** Jobs of other pipelines and projects whose artifacts a job downloads, resolved when it started. */
export type JobDependenciesTable = { job_id: number; dependency_id: number };

export type JobNeedsTable = { job_id: number; name: string; artifacts: Flag; optional: Flag };

/** Jobs that wait for a runner. */
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
  /** Job that holds the resource. */
  job_id: number | null;
  created_at: number;
  updated_at: number;
};

/** Job logs, if several services share a bucket. */
export type SharedTracesTable = {
  job_id: number;
  project_id: number;
  /** Size in bytes and CRC-32, as sent. */
  size: number;
  crc: number;
  /** Digest of the whole log in the bucket; null if it is in its pieces. */
  sha256: string | null;
  /** Since when a finished log waits for the bucket; null if it does not wait. */
  waits_since: number | null;
};

export type SharedTracePiecesTable = { job_id: number; start: number; bytes: Uint8Array };

/** Claims on a blob by a process that is about to reference or delete it. */
export type ByteHoldsTable = {
  project_id: number;
  sha256: string;
  /** Name of the process. */
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

export type VariablesTable = {
  id: Id;
  source_type: 'Project' | 'Namespace' | 'Instance';
  /** 0 for the instance. */
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
  /** The token, encrypted, because its owner may see it again. */
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
  /** JSON object: values by name of the inputs for its pipelines. */
  inputs: Generated<string | null>;
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

export type CiSchema = {
  deployment_merge_requests: DeploymentMergeRequestsTable;
  pipelines: PipelinesTable;
  pipeline_variables: PipelineVariablesTable;
  stages: StagesTable;
  job_configs: JobConfigsTable;
  jobs: JobsTable;
  job_dependencies: JobDependenciesTable;
  job_needs: JobNeedsTable;
  pending_jobs: PendingJobsTable;
  resource_groups: ResourceGroupsTable;
  shared_traces: SharedTracesTable;
  shared_trace_pieces: SharedTracePiecesTable;
  byte_holds: ByteHoldsTable;
  artifacts: ArtifactsTable;
  job_variables: JobVariablesTable;
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
