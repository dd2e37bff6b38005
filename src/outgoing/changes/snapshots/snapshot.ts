/** The records that a payload is built from, as a change left them. Stored as JSON until the payload is delivered. */
import type { Selectable } from 'kysely';
import type {
  ArtifactsTable,
  JobsTable,
  PipelinesTable,
  StagesTable,
} from '../../../platform/db/schema/ci.ts';
import type { DeploymentsTable, EnvironmentsTable } from '../../../platform/db/schema/environments.ts';
import type { RunnersTable } from '../../../platform/db/schema/runners.ts';
import type {
  CommitCommentsTable,
  ReleaseLinksTable,
  ReleasesTable,
} from '../../../platform/db/schema/code.ts';
import type { KeysTable } from '../../../platform/db/schema/credentials.ts';
import type { NamespacesTable, UsersTable } from '../../../platform/db/schema/identity.ts';
import type { IssuesTable, NotesTable } from '../../../platform/db/schema/planning.ts';
import type { LabelsTable, ProjectsTable, SnippetsTable } from '../../../platform/db/schema/projects.ts';
import type { MergeRequestsTable } from '../../../platform/db/schema/review.ts';
import type { PayloadKind } from '../hook_plans.ts';

export type UserFacts = Pick<
  Selectable<UsersTable>,
  'id' | 'name' | 'username' | 'email' | 'avatar' | 'state' | 'created_at' | 'updated_at'
>;

export type ProjectFacts = Pick<
  Selectable<ProjectsTable>,
  | 'id'
  | 'name'
  | 'path'
  | 'full_path'
  | 'description'
  | 'visibility'
  | 'default_branch'
  | 'ci_config_path'
  | 'avatar'
  | 'created_at'
  | 'updated_at'
  | 'repository_storage'
  | 'repository_path'
  | 'repository_written'
  | 'creator_id'
> & { namespace_name: string };

export type LabelFacts = Selectable<LabelsTable>;

/** Common parts of issues and merge requests. */
type Related = { labels: LabelFacts[]; assignee_ids: number[] };

export type IssueFacts = Omit<Selectable<IssuesTable>, 'revision'> & Related;

export type MergeRequestFacts = Omit<Selectable<MergeRequestsTable>, 'revision'> &
  Related & {
    reviewers: { user_id: number; state: string }[];
    source: ProjectFacts | null;
    head_pipeline_id: number | null;
    blocking_discussions_resolved: boolean;
    /** Absent in snapshots of earlier releases. */
    detailed_merge_status?: string;
  };

export type JobFacts = Omit<Selectable<JobsTable>, 'token_hash'> & {
  artifact: Pick<Selectable<ArtifactsTable>, 'filename' | 'size'> | null;
  /** What the job does to its environment: `start`, `stop`... Absent in snapshots of earlier releases. */
  environment_action?: string | null;
};

export type RunnerFacts = Pick<
  Selectable<RunnersTable>,
  'id' | 'description' | 'runner_type' | 'active' | 'tag_list'
>;

export type PipelineFacts = Selectable<PipelinesTable>;

export type EnvironmentFacts = Selectable<EnvironmentsTable>;

export type Records = {
  issue?: IssueFacts;
  merge_request?: MergeRequestFacts;
  snippet?: Omit<Selectable<SnippetsTable>, 'user_agent' | 'ip_address'>;
  note?: Selectable<NotesTable>;
  commit_comment?: Selectable<CommitCommentsTable>;
  award?: {
    id: number;
    name: string;
    user_id: number;
    awardable_type: string;
    awardable_id: number;
    created_at: number;
  };
  release?: Selectable<ReleasesTable> & { links: Selectable<ReleaseLinksTable>[] };
  deployment?: Selectable<DeploymentsTable>;
  environment?: EnvironmentFacts;
  pipeline?: PipelineFacts & {
    variables: { key: string }[];
  };
  stages?: Selectable<StagesTable>[];
  jobs?: JobFacts[];
  environments?: EnvironmentFacts[];
  job?: JobFacts & { retries_count: number };
  runners?: RunnerFacts[];
  member?: { user_id: number; access_level: number; expires_at: string | null; created_at: number };
  group?: Pick<
    Selectable<NamespacesTable>,
    'id' | 'name' | 'path' | 'full_path' | 'created_at' | 'updated_at'
  >;
  user?: Partial<UserFacts> & { id: number; username: string };
  key?: Pick<Selectable<KeysTable>, 'id' | 'type' | 'blob'> & { username: string | null };
  owners?: number[];
};

export type Snapshot = {
  payload: PayloadKind;
  /** Kind of the change: `issue.closed`. */
  kind: string;
  /** Data that the change log recorded. */
  data: object;
  /** Values before and after that the log does not keep. */
  unlogged: {
    description?: [string | null, string | null];
    updated_at?: [number, number];
    /** Options of a push, without options that contain secrets. */
    push_options?: string[];
    /** Commit that a new branch starts at; null: all of its commits are new. Absent in snapshots of earlier releases. */
    branch_base?: string | null;
  };
  actor_id: number | null;
  /** Time of the change. */
  at: number;
  project: ProjectFacts | null;
  /** Members of a protected ref: whether the pushed ref is protected. */
  is_ref_protected?: boolean;
  /** Labels that the change removed from the record. Absent in snapshots of earlier releases. */
  removed_labels?: LabelFacts[];
  /** Users of all records, by id. */
  users: { [id: string]: UserFacts };
  records: Records;
};
