/**
 * Diff versions: what a merge request brings, looked at once and stored. Two commits name a diff that never changes,
 * so every later read is answered from the store. The commits stay in the target's repository for good.
 */
import type { Platform } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { isBeyondLimits } from '../git/failure.ts';
import type { Commit, DiffLimits, FileDiff, Oid } from '../git/protocol_types.ts';
import type { Repository } from '../git/repository.ts';
import { enqueue } from '../queue/queue.ts';
import { bringCommit, keepCommits } from '../repository/bring.ts';
import { diffJson } from '../repository/diff_json.ts';
import { repositoryOf } from '../repository/open.ts';
import { type Branches, type Heads, readHeads } from './heads.ts';
import { versionWork } from './follow_version.ts';
import { versionCommitJson } from './version_json.ts';
import { type NewVersion, insertVersionRows } from './version_queries.ts';

/** What is stored of a diff; of a larger one, the first files. */
const storedLimits: DiffLimits = { files: 1_000, lines: 50_000, bytes: 5_120_000, file_bytes: 102_400 };
/** Commits that are stored; git is asked for older ones. */
const mostStoredCommits = 1_000;
/** UTF-16 code units of their messages: git is asked for those past them, too. */
const mostMessages = 2_000_000;

/** A version that is not stored yet; its commits are kept already. */
export type PreparedVersion = NewVersion & { head_commit_sha: Oid; start_commit_sha: Oid };

type Compared = { repository: Repository; head: Oid; start: Oid; base: Oid | null };

/** Stores a diff that git cannot compare in time, or at all, as one that exceeded the limits. */
const filesOf = async ({
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

/** Newest first, and how many there are. */
const commitsOf = async ({
  repository,
  head,
  start,
}: Compared): Promise<{ commits: Commit[]; total: number }> => {
  const { commits, total } = await repository.ask('commits.list', {
    from: [head],
    not: [start],
    skip: 0,
    limit: mostStoredCommits,
    count: true,
  });
  return { commits, total: total ?? commits.length };
};

/** The newest, as many as are to be stored. */
const fitting = (commits: Commit[]): Commit[] => {
  let size = 0;
  const first = commits.findIndex(({ message }) => (size += message.length) > mostMessages);
  return first === -1 ? commits : commits.slice(0, first);
};

const stateOf = (commits: number, overflow: boolean): NewVersion['state'] => {
  if (commits === 0) return 'empty';
  return overflow ? 'overflow' : 'collected';
};

const sizeOf = (state: NewVersion['state'], files: FileDiff[]): string | null => {
  if (state === 'empty') return null;
  return `${files.length}${state === 'overflow' ? '+' : ''}`;
};

const collect = async (compared: Compared): Promise<PreparedVersion> => {
  const { commits, total } = await commitsOf(compared);
  const { diffs, overflow } = total === 0 ? { diffs: [], overflow: false } : await filesOf(compared);
  const state = stateOf(total, overflow);
  return {
    state,
    head_commit_sha: compared.head,
    base_commit_sha: compared.base,
    start_commit_sha: compared.start,
    real_size: sizeOf(state, diffs),
    commits_count: total,
    commits: JSON.stringify(fitting(commits).map(versionCommitJson)),
    diffs: JSON.stringify(diffs.map(diffJson)),
    shas: commits.map(({ id }) => id),
  };
};

type Wanted = Branches & {
  /** The head of the last version: known to both sides. */
  previous_sha?: Oid | null;
  /** Where the branches point, for one who has just looked. */
  heads?: Heads;
};

/**
 * Looks at what the source branch brings to the target branch, and makes its commits stay. Outside of transactions:
 * git is asked.
 * @returns null where one of the branches is missing (`readHeads` tells which)
 */
export const prepareVersion = async (
  platform: Pick<Platform, 'git'>,
  { previous_sha = null, heads, ...branches }: Wanted,
): Promise<PreparedVersion | null> => {
  const { source, target } = branches;
  const { source_sha, target_sha } = heads ?? (await readHeads(platform, branches));
  if (source === null || source_sha === null || target_sha === null) return null;
  const repository = repositoryOf(platform, target);
  if (source.id !== target.id) {
    const shared = [target_sha, ...(previous_sha === null ? [] : [previous_sha])];
    await bringCommit(platform, { source, target }, source_sha, shared);
  }
  await keepCommits(repository, [source_sha, target_sha]);
  const { id: base } = await repository.ask('commits.merge_base', { ids: [target_sha, source_sha] });
  return await collect({ repository, head: source_sha, start: target_sha, base });
};

/**
 * Stores a version as the request's latest, unchecked. `updated_at` stays as it is: whoever changes the request for a
 * reason says so.
 * @returns its id
 */
export const insertVersion = async (
  tx: Tx,
  { id }: { id: number },
  prepared: PreparedVersion,
): Promise<number> => {
  const diff_id = await insertVersionRows(tx, id, prepared);
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
