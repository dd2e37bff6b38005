/** Types of a job as the coordinator sends it; only the parts that the runner reads. */

export type Variable = {
  key: string;
  value: string;
  /** The variable's value is written to a file, and the job gets its path. */
  file?: boolean;
  masked?: boolean;
  /** Not secret: services receive it too. */
  public?: boolean;
  /** References in it are not expanded. */
  raw?: boolean;
};

export type Step = { name: string; script: string[]; timeout?: number };

export type Cache = {
  key?: string;
  untracked?: boolean | null;
  paths?: string[] | null;
  policy?: string | null;
  when?: string | null;
  fallback_keys?: string[] | null;
};

export type ArtifactOrder = {
  name?: string | null;
  untracked?: boolean | null;
  paths?: string[] | null;
  exclude?: string[] | null;
  when?: string | null;
  expire_in?: string | null;
  artifact_type?: string | null;
  artifact_format?: string | null;
};

export type Dependency = {
  id: number;
  name: string;
  token: string;
  artifacts_file?: { filename?: string; size?: number } | null;
};

export type GitInfo = {
  repo_url: string;
  ref: string;
  sha: string;
  refspecs?: string[] | null;
  depth?: number | null;
  protected?: boolean | null;
};

export type Image = {
  name: string;
  entrypoint?: string[] | null;
  /** In order of use. */
  pull_policy?: string[] | null;
  executor_opts?: { docker?: { platform?: string; user?: string | number } | null } | null;
};

export type Service = Image & {
  /** Names separated by spaces or commas. */
  alias?: string | null;
  command?: string[] | null;
  variables?: Variable[] | null;
};

export type Credential = { type: string; url: string; username: string; password: string };

export type Job = {
  id: number;
  token: string;
  allow_git_fetch?: boolean;
  job_info: {
    name: string;
    stage: string;
    project_id: number;
    project_name: string;
    /** Unique key of the project; ids may be reused after a restore. */
    project_key?: string | null;
  };
  git_info: GitInfo;
  runner_info?: { timeout?: number };
  variables: Variable[];
  steps: Step[];
  image?: Image | null;
  services?: Service[] | null;
  credentials?: Credential[] | null;
  artifacts?: ArtifactOrder[] | null;
  cache?: Cache[] | null;
  dependencies?: Dependency[] | null;
  hooks?: { name: string; script: string[] }[] | null;
  features?: { token_mask_prefixes?: string[] | null } | null;
};

/** Failure reasons that every coordinator knows. */
export type FailureReason =
  | 'script_failure'
  | 'runner_system_failure'
  | 'job_execution_timeout'
  | 'job_canceled';

/** The final state of a job, as reported. */
export type Outcome =
  | { state: 'success' }
  | { state: 'failed'; failure_reason: FailureReason; exit_code?: number };
