/** What a coordinator sends with a job: the part of the protocol that is read here. */

export type Variable = {
  key: string;
  value: string;
  /** Its value is the content of a file, whose path the job gets. */
  file?: boolean;
  masked?: boolean;
  /** Everybody may read it: services get it, too. */
  public?: boolean;
  /** Nothing in it is expanded. */
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
  /** In the order in which they are tried. */
  pull_policy?: string[] | null;
  executor_opts?: { docker?: { platform?: string; user?: string | number } | null } | null;
};

export type Service = Image & {
  /** Names, divided by spaces or commas. */
  alias?: string | null;
  command?: string[] | null;
  variables?: Variable[] | null;
};

export type Credential = { type: string; url: string; username: string; password: string };

export type Job = {
  id: number;
  token: string;
  allow_git_fetch?: boolean;
  job_info: { name: string; stage: string; project_id: number; project_name: string };
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

/** Why a job failed, in words that every coordinator knows. */
export type FailureReason =
  | 'script_failure'
  | 'runner_system_failure'
  | 'job_execution_timeout'
  | 'job_canceled';

/** How a job ended, as its coordinator is told. */
export type Outcome =
  | { state: 'success' }
  | { state: 'failed'; failure_reason: FailureReason; exit_code?: number };
