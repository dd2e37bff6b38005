/**
 * Computes and stores diff versions of merge requests. The diff of two commits never changes, so later reads use the
 * stored version. The commits are kept in the target's repository permanently.
 */
import type { Platform } from '../../../core/platform.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { isBeyondLimits } from '../../../platform/git/failure.ts';
import type { Commit, DiffLimits, FileDiff, Oid } from '../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import { importCommit, keepCommits } from '../../../code/repository/refs/import_commits.ts';
import { diffJson } from '../../../code/repository/commits/diff_json.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { type Branches, type Heads, readHeads } from '../refresh/branch_heads.ts';
import { versionWork } from './follow_version.ts';
import { versionCommitJson } from './json.ts';
import { type NewVersion, insertVersionRows } from './queries.ts';

/** Limits of a stored diff. Only the first files of a larger diff are stored. */
const storedLimits: DiffLimits = { files: 1_000, lines: 50_000, bytes: 5_120_000, file_bytes: 102_400 };
/** Maximum number of stored commits; older commits are read from git. */
const maxStoredCommits = 1_000;
/** Maximum total length of stored commit messages, in UTF-16 code units; others are read from git. */
const maxMessagesLength = 2_000_000;

/** A version that is not stored yet. Git already keeps its commits. */
export type PreparedVersion = NewVersion & { head_commit_sha: Oid; start_commit_sha: Oid };

type Compared = { repository: Repository; head: Oid; start: Oid; base: Oid | null };

/** Treats a diff that git cannot compute, or not in time, as one that exceeds the limits. */
const readDiff = async ({
  repository,
  head,
  base,
}: Compared): Promise<{ diffs: FileDiff[]; overflow: boolean }> => {
  try {
    return await repository.ask('diff.files', { from: base, to: head, limits: storedLimits });
  } catch (error) {
    if (!isBeyondLimits(error)) throw error;
    return { diffs: [], overflow: true };
  }
};

/** Lists commits, newest first, with their total number. */
const listCommits = async ({
  repository,
  head,
  start,
}: Compared): Promise<{ commits: Commit[]; total: number }> => {
  const { commits, total } = await repository.ask('commits.list', {
    from: [head],
    not: [start],
    skip: 0,
    limit: maxStoredCommits,
    count: true,
  });
  return { commits, total: total ?? commits.length };
};

/** Returns the newest commits, up to the storage limits. */
const limitMessages = (commits: Commit[]): Commit[] => {
  let size = 0;
  const first = commits.findIndex(({ message }) => (size += message.length) > maxMessagesLength);
  return first === -1 ? commits : commits.slice(0, first);
};

const toVersionState = (commits: number, overflow: boolean): NewVersion['state'] => {
  if (commits === 0) return 'empty';
  return overflow ? 'overflow' : 'collected';
};

const formatSize = (state: NewVersion['state'], files: FileDiff[]): string | null => {
  if (state === 'empty') return null;
  return `${files.length}${state === 'overflow' ? '+' : ''}`;
};

const collect = async (compared: Compared): Promise<PreparedVersion> => {
  const { commits, total } = await listCommits(compared);
  const { diffs, overflow } = total === 0 ? { diffs: [], overflow: false } : await readDiff(compared);
  const state = toVersionState(total, overflow);
  return {
    state,
    head_commit_sha: compared.head,
    base_commit_sha: compared.base,
    start_commit_sha: compared.start,
    real_size: formatSize(state, diffs),
    commits_count: total,
    commits: JSON.stringify(limitMessages(commits).map(versionCommitJson)),
    diffs: JSON.stringify(diffs.map(diffJson)),
    shas: commits.map(({ id }) => id),
  };
};

type VersionInput = Branches & {
  /** The head of the last version, which both repositories have. */
  previous_sha?: Oid | null;
  /** The heads of the branches, if the caller has just read them. */
  heads?: Heads;
};

/**
 * Compares the source with the target branch and keeps the commits in the target repository. Reads git, so call it
 * outside transactions.
 * @returns null if a branch is missing (`readHeads` reports which)
 */
export const prepareVersion = async (
  platform: Pick<Platform, 'git'>,
  { previous_sha = null, heads, ...branches }: VersionInput,
): Promise<PreparedVersion | null> => {
  const { source, target } = branches;
  const { source_sha, target_sha } = heads ?? (await readHeads(platform, branches));
  if (source === null || source_sha === null || target_sha === null) return null;
  const repository = getRepository(platform, target);
  if (source.id !== target.id) {
    const shared = [target_sha, ...(previous_sha === null ? [] : [previous_sha])];
    await importCommit(platform, { source, target }, source_sha, shared);
  }
  await keepCommits(repository, [source_sha, target_sha]);
  const { id: base } = await repository.ask('commits.merge_base', { ids: [target_sha, source_sha] });
  return await collect({ repository, head: source_sha, start: target_sha, base });
};

/** A version, and who pushed it; null: unknown. */
export type PushedVersion = { prepared: PreparedVersion; pushed_by_id: number | null };

/**
 * Stores a version as the latest of the request and resets the merge status. Does not change `updated_at`: callers
 * that edit the request set it.
 * @returns the id of the version
 */
export const insertVersion = async (
  tx: Tx,
  { id }: { id: number },
  { prepared, pushed_by_id }: PushedVersion,
): Promise<number> => {
  const diff_id = await insertVersionRows(tx, id, { ...prepared, pushed_by_id });
  await tx.db
    .updateTable('merge_requests')
    .set({
      diff_id,
      head_sha: prepared.head_commit_sha,
      merge_status: 'unchecked',
      checked_source_sha: null,
      checked_target_sha: null,
    })
    .where('id', '=', id)
    .execute();
  await enqueue(tx, versionWork, { merge_request_id: id }, { unique_key: `${versionWork}:${id}` });
  return diff_id;
};
