/** What a configuration says, once read: plain values that a store keeps as JSON. Names are those of the language. */
import type { Expression } from './expression/parser.ts';
import type { Hash, Place } from './node.ts';
import type { Problem } from './problem.ts';

export type When = 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed';

export type Variable = {
  key: string;
  value: string;
  /** Is not expanded by who runs the job. */
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
  /** As written; `secondsOf` reads it. `never` keeps. */
  expire_in: string | null;
  expose_as: string | null;
  access: 'all' | 'developer' | 'maintainer' | 'none' | null;
  /** Of each kind of report, where it lies. */
  reports: Record<string, string[]>;
  /** Of `coverage_report`: cobertura or jacoco. */
  coverage_format: string | null;
};

export type Cache = {
  /** A text, or the files whose contents name it. */
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
  /** Of a job that `parallel:matrix` makes: which of them. */
  matrix: Record<string, string[]>[] | null;
};

/** Artifacts of a job of a project's ref, or of another pipeline of the same tree; variables in all of it. */
export type CrossNeed = {
  job: string;
  project?: string;
  ref?: string;
  pipeline?: string;
  artifacts: boolean;
  /** It may be missing. */
  optional?: boolean;
};

/** Another pipeline that a job starts. */
export type Trigger = {
  /** Full path of its project, variables in it; null: it is a part of this one, made of what is included. */
  project: string | null;
  branch: string | null;
  /** Entries of an `include`, as they were written; null: the configuration of the project. */
  include: unknown[] | null;
  inputs: unknown;
  /** The job goes as the other pipeline does; null: it is done once that is made. */
  strategy: 'depend' | 'mirror' | null;
  /** Which variables the other pipeline is given. */
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
  /** Asks for a cluster, and there is none. */
  kubernetes: boolean;
};

export type AutoCancel = {
  on_new_commit: 'conservative' | 'interruptible' | 'none' | null;
  on_job_failure: 'all' | 'none' | null;
};

export type Job = {
  name: string;
  /** Of all jobs that `parallel` makes of it. */
  group: string;
  stage: string;
  place: Place;
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
  /** Of one that `parallel` made. */
  parallel: { index: number; total: number; matrix: Record<string, string> | null } | null;
  coverage: string | null;
  interruptible: boolean | null;
  resource_group: string | null;
  environment: Environment | null;
  pre_get_sources_script: string[];
  manual_confirmation: string | null;
  trigger: Trigger | null;
  /** Full path of the project whose newest pipeline it goes as, variables in it; null: it does something itself. */
  mirrors: string | null;
  /** Accepted; who runs jobs says what of it he does. */
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
  /** In the order of the file, those of `parallel` one by one. */
  jobs: Job[];
};

export type Compiled = {
  /** null: there are errors. */
  config: Config | null;
  errors: Problem[];
  warnings: Problem[];
  includes: Included[];
  /** All of it put together, for `mergedYaml`; null: it could not be. */
  root: Hash | null;
};
