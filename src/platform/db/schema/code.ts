/** Row types of the tables of repositories and releases; conventions as in `database.ts`. */
import type { Generated } from 'kysely';
import type { Flag, Id } from './column_types.ts';

/** Ref changes in progress (`code/repository/refs/move_refs.ts`), deleted by the transaction that completes them. */
export type GitOperationsTable = {
  id: Id;
  project_id: number;
  user_id: number | null;
  /** Operation that completes the change: `push`, `merge`... */
  kind: string;
  /** JSON array of RefUpdate. */
  updates: string;
  /** JSON object for the operation that completes the change. */
  data: string;
  /** Process that makes the change. If it is gone, another process completes or drops it. */
  process: string;
  created_at: number;
};

/** Levels: 0 nobody, 30 developers, 40 masters. */
export type ProtectedBranchesTable = {
  id: Id;
  project_id: number;
  /** May contain `*`. */
  name: string;
  push_access_level: number;
  merge_access_level: number;
  allow_force_push: Generated<Flag>;
  created_at: number;
};

export type ProtectedTagsTable = {
  id: Id;
  project_id: number;
  name: string;
  create_access_level: number;
  created_at: number;
};

/** Statuses of commits reported by external systems. */
export type CommitStatusesTable = {
  id: Id;
  project_id: number;
  sha: string;
  ref: string;
  name: string;
  status: 'pending' | 'running' | 'success' | 'failed' | 'canceled' | 'skipped';
  target_url: string | null;
  description: string | null;
  /** Hundredths of a percent. */
  coverage: number | null;
  allow_failure: Generated<Flag>;
  author_id: number;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  /** Pipeline in which the status counts; null: none. */
  pipeline_id: number | null;
  /** Replaced by a newer status of the same name in its pipeline. */
  retried: Generated<Flag>;
};

export type CommitCommentsTable = {
  id: Id;
  project_id: number;
  sha: string;
  author_id: number;
  note: string;
  path: string | null;
  line: number | null;
  line_type: 'new' | 'old' | null;
  created_at: number;
  /** null: an individual comment, whose discussion id is derived from its own id. */
  discussion_id: string | null;
  /** JSON: position in the diff of the commit. */
  position: string | null;
  /** null: never changed. */
  updated_at: number | null;
};

export type ReleasesTable = {
  id: Id;
  project_id: number;
  tag: string;
  name: string | null;
  description: string | null;
  /** Commit of the tag when the release was created; stays when the tag is deleted. */
  sha: string | null;
  author_id: number | null;
  created_at: number;
  released_at: number;
};

export type ReleaseMilestonesTable = { release_id: number; milestone_id: number };

export type ReleaseLinksTable = {
  id: Id;
  release_id: number;
  name: string;
  url: string;
  filepath: string | null;
  link_type: Generated<'other' | 'runbook' | 'image' | 'package'>;
};

/** Files of default branches, indexed by triggers (SQLite) and by an index of trigrams (PostgreSQL). */
export type CodeFilesTable = {
  id: Id;
  project_id: number;
  path: string;
  blob_id: string;
  /** null: binary or too large. */
  content: string | null;
};

/** The commit that `code_files` has of a project. */
export type CodeIndexesTable = { project_id: number; commit_id: string };

/** Moves of repositories between storages (`code/repository/moves`). */
export type RepositoryMovesTable = {
  id: Id;
  project_id: number;
  user_id: number | null;
  state: 'scheduled' | 'started' | 'finished' | 'failed';
  source_storage: string;
  /** Path below the root of the storage. */
  source_path: string;
  destination_storage: string;
  destination_path: string;
  attempts: Generated<number>;
  /** Why it failed, or why the last attempt did. */
  error: string | null;
  created_at: number;
  updated_at: number;
};

export type CodeSchema = {
  repository_moves: RepositoryMovesTable;
  code_files: CodeFilesTable;
  code_indexes: CodeIndexesTable;
  git_operations: GitOperationsTable;
  protected_branches: ProtectedBranchesTable;
  protected_tags: ProtectedTagsTable;
  commit_statuses: CommitStatusesTable;
  commit_comments: CommitCommentsTable;
  releases: ReleasesTable;
  release_milestones: ReleaseMilestonesTable;
  release_links: ReleaseLinksTable;
};
