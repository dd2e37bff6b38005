import type { Selectable } from 'kysely';
import type { MergeRequestDiffsTable } from '../../../platform/db/schema/review.ts';
import type { Commit } from '../../../platform/git/protocol_types.ts';
import { array, int, nullable, object, string, timestamp } from '../../../platform/http/schema.ts';
import { formatSigned, toShortId, toCommitTitle } from '../../../code/repository/commits/json.ts';
import { diffShape } from '../../../code/repository/commits/diff_json.ts';
import { formatTime } from '../../../platform/time.ts';

/** A commit of a merge request, stored as JSON of this shape. */
export const versionCommitShape = object({
  id: string,
  short_id: string,
  title: string,
  author_name: string,
  author_email: string,
  created_at: timestamp,
  message: string,
  parent_ids: array(string),
  authored_date: timestamp,
  committer_name: string,
  committer_email: string,
  committed_date: timestamp,
});

export const versionCommitJson = (commit: Commit) => ({
  id: commit.id,
  short_id: toShortId(commit.id),
  title: toCommitTitle(commit.message),
  author_name: commit.author.name,
  author_email: commit.author.email,
  created_at: formatSigned(commit.committer),
  message: commit.message,
  parent_ids: commit.parents,
  authored_date: formatSigned(commit.author),
  committer_name: commit.committer.name,
  committer_email: commit.committer.email,
  committed_date: formatSigned(commit.committer),
});

export type VersionCommit = ReturnType<typeof versionCommitJson>;

const fields = {
  id: int,
  head_commit_sha: nullable(string),
  base_commit_sha: nullable(string),
  start_commit_sha: nullable(string),
  created_at: timestamp,
  merge_request_id: int,
  state: string,
  real_size: nullable(string),
};

/** A diff version in a list. */
export const versionShape = object(fields);

/** One diff version with its commits and diffs. */
export const singleVersionShape = object({
  ...fields,
  commits: array(versionCommitShape),
  diffs: array(diffShape),
});

export type VersionRow = Selectable<MergeRequestDiffsTable>;

export const versionJson = (version: VersionRow) => ({
  id: version.id,
  head_commit_sha: version.head_commit_sha,
  base_commit_sha: version.base_commit_sha,
  start_commit_sha: version.start_commit_sha,
  created_at: formatTime(version.created_at),
  merge_request_id: version.merge_request_id,
  state: version.state,
  real_size: version.real_size,
});
