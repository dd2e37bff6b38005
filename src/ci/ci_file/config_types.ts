/** Types of a parsed configuration: plain values, stored as JSON. Names are the keywords of the language. */
import type { Expression } from './expression/parser.ts';
import type { Hash } from './syntax/node.ts';
import type { SourcePosition } from './syntax/source_position.ts';
import type { Problem } from './syntax/problems.ts';

export type When = 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed';

export type Variable = {
  key: string;
  value: string;
  /** The runner does not expand references in the value. */
  raw: boolean;
  description?: string;
  options?: string[];
};

export type Image = {
  name: string;
  entrypoint: string[] | null;
  pull_policy: string[];
  docker: { platform?: string; user?: string } | null;
};

export type Service = Image & { alias: string | null; command: string[] | null; variables: Variable[] };

export type Artifacts = {
  name: string | null;
  untracked: boolean;
  paths: string[];
  exclude: string[];
  when: 'on_success' | 'on_failure' | 'always' | null;
  /** As written; `parseDuration` reads it. `never` keeps the artifacts. */
  expire_in: string | null;
  expose_as: string | null;
  access: 'all' | 'developer' | 'maintainer' | 'none' | null;
  /** Paths by kind of report. */
  reports: Record<string, string[]>;
  /** Format of `coverage_report`: cobertura or jacoco. */
  coverage_format: string | null;
};

export type Cache = {
  /** A text, or the files whose contents determine the key. */
  key: string | { files: string[]; prefix: string | null };
  paths: string[];
  untracked: boolean;
  policy: string;
  when: 'on_success' | 'on_failure' | 'always';
  fallback_keys: string[];
  unprotect: boolean;
};

export type Need = {
  job: string;
  artifacts: boolean;
  optional: boolean;
  /** Selects jobs of a `parallel:matrix`. */
  matrix: Record<string, string[]>[] | null;
};

/** Artifacts of a job of another project's ref, or of another pipeline in the same tree. All texts may have variables. */
export type CrossNeed = {
  job: string;
  project?: string;
  ref?: string;
  pipeline?: string;
  artifacts: boolean;
  /** The job may be missing. */
  optional?: boolean;
};

/** Another pipeline that a job starts. */
export type Trigger = {
  /** Full path of the project, possibly with variables; null: a child pipeline from `include`. */
  project: string | null;
  branch: string | null;
  /** Entries of `include`, unparsed; null: the project's own configuration. */
  include: unknown[] | null;
  inputs: unknown;
  /** The job follows the pipeline's status; null: it succeeds once the pipeline is created. */
  strategy: 'depend' | 'mirror' | null;
  /** Which variables are passed to the other pipeline. */
  forward: { yaml_variables: boolean; pipeline_variables: boolean };
};

export type Retry = { max: number; when: string[]; exit_codes: number[] };

export type Environment = {
  name: string;
  url: string | null;
  on_stop: string | null;
  action: 'start' | 'prepare' | 'stop' | 'verify' | 'access';
  auto_stop_in: string | null;
  deployment_tier: string | null;
};

export type PathRule = { paths: string[]; compare_to: string | null };

export type Rule = {
  if: Expression | null;
  changes: PathRule | null;
  exists: string[] | null;
  when: When | 'never' | null;
  allow_failure: boolean | null;
  variables: Variable[];
  needs: Need[] | null;
  start_in: string | null;
  interruptible: boolean | null;
  auto_cancel: AutoCancel | null;
};

/** `only` or `except`. */
export type Policy = {
  refs: string[] | null;
  variables: Expression[] | null;
  changes: string[] | null;
  /** Requires a cluster. There is none, so the policy never matches. */
  kubernetes: boolean;
};

export type AutoCancel = {
  on_new_commit: 'conservative' | 'interruptible' | 'none' | null;
  on_job_failure: 'all' | 'none' | null;
};

export type Job = {
  name: string;
  /** The entry's name, shared by all jobs that `parallel` creates. */
  group: string;
  stage: string;
  position: SourcePosition;
  script: string[];
  before_script: string[];
  after_script: string[];
  image: Image | null;
  services: Service[];
  variables: Variable[];
  inherit_variables: boolean | string[];
  tags: string[];
  when: When;
  start_in: string | null;
  allow_failure: boolean;
  allow_failure_exit_codes: number[];
  rules: Rule[] | null;
  only: Policy | null;
  except: Policy | null;
  needs: Need[] | null;
  cross_needs: CrossNeed[];
  dependencies: string[] | null;
  artifacts: Artifacts | null;
  cache: Cache[];
  retry: Retry | null;
  /** Seconds. */
  timeout: number | null;
  /** Set for a job that `parallel` created. */
  parallel: { index: number; total: number; matrix: Record<string, string> | null } | null;
  coverage: string | null;
  interruptible: boolean | null;
  resource_group: string | null;
  environment: Environment | null;
  pre_get_sources_script: string[];
  manual_confirmation: string | null;
  trigger: Trigger | null;
  /** Full path, possibly with variables, of the project whose newest pipeline the job mirrors; null: none. */
  mirrors: string | null;
  /** Stored unparsed; the runner decides what it supports. */
  release: unknown;
  pages: unknown;
  id_tokens: unknown;
  secrets: unknown;
};

export type Workflow = {
  rules: Rule[] | null;
  name: string | null;
  auto_cancel: AutoCancel | null;
};

export type Included = { type: string; location: string; extra: Record<string, string>; from: string };

export type Config = {
  stages: string[];
  variables: Variable[];
  workflow: Workflow;
  /** In file order, with `parallel` expanded. */
  jobs: Job[];
};

export type Compiled = {
  /** null if there are errors. */
  config: Config | null;
  errors: Problem[];
  warnings: Problem[];
  includes: Included[];
  /** The merged tree, for `toMergedYaml`; null if merging failed. */
  root: Hash | null;
};
