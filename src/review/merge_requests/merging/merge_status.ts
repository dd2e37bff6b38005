/**
 * Checks whether a request can be merged. The check runs when the request is read; its result is cached for its pair of
 * heads. A check is not an edit, so `updated_at` does not change.
 */
import { sql } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import { type RepositoryLocation, repositoryColumns } from '../../../platform/git/repository.ts';
import { waitAtMost } from '../../../platform/wait_at_most.ts';
import { type Heads, loadBranches, readHeads } from '../refresh/branch_heads.ts';
import type { MergeRequestRow } from '../rows.ts';
import { latestVersion } from '../versions/queries.ts';
import { findKeptStatus, getStatusVersion, keepStatus } from './merge_status_cache.ts';

type Status = MergeRequestRow['merge_status'];

/** The columns of a request that a merge check needs. */
export type CheckedRequest = Pick<
  MergeRequestRow,
  | 'id'
  | 'state'
  | 'project_id'
  | 'source_project_id'
  | 'source_branch'
  | 'target_branch'
  | 'diff_id'
  | 'head_sha'
  | 'merge_status'
  | 'checked_source_sha'
  | 'checked_target_sha'
>;

/** Returns whether the stored status was computed for these heads. */
const isFresh = (request: CheckedRequest, { source_sha, target_sha }: Heads): boolean =>
  request.merge_status !== 'unchecked' &&
  request.checked_source_sha === source_sha &&
  request.checked_target_sha === target_sha;

/** The result of a check; `problem` becomes the request's `merge_error`. */
export type MergeCheck = { status: Status; problem: string | null };

export const notMergeable: MergeCheck = { status: 'cannot_be_merged', problem: null };

/** The outcome for changes that exceed the size limits of a merge. */
export const tooLargeToMerge: MergeCheck = {
  status: 'cannot_be_merged',
  problem: 'Merge failed: the changes are too large',
};

const tryMerge = async (
  platform: Platform,
  target: RepositoryLocation,
  ours: Oid,
  theirs: Oid,
): Promise<MergeCheck> => {
  try {
    const { clean } = await getRepository(platform, target).ask('merge.check', { ours, theirs });
    return clean ? { status: 'can_be_merged', problem: null } : notMergeable;
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return tooLargeToMerge;
    throw error;
  }
};

/** @returns null while the newest source commits have not been fetched into the target's repository */
const evaluate = async (
  platform: Platform,
  request: CheckedRequest,
  target: RepositoryLocation,
  { source_sha, target_sha }: Heads,
): Promise<MergeCheck | null> => {
  if (source_sha === null || target_sha === null) return notMergeable;
  if (source_sha !== request.head_sha && request.source_project_id !== target.id) return null;
  const version = await latestVersion(platform.store.db, request);
  const isCurrent = version?.head_commit_sha === source_sha;
  const isEmpty = isCurrent && (version.state === 'empty' || version.base_commit_sha === null);
  return isEmpty ? notMergeable : await tryMerge(platform, target, target_sha, source_sha);
};

/** Keeps the error of a failed rebase; clears the error of an earlier merge check. */
const mergeError = (problem: string | null) =>
  problem ??
  sql<string | null>`case when merge_error = ${tooLargeToMerge.problem} then null else merge_error end`;

/** Inputs of a check, as they were before the check read the heads. */
type CheckedRow = Pick<
  MergeRequestRow,
  'id' | 'diff_id' | 'head_sha' | 'checked_source_sha' | 'checked_target_sha'
>;

/**
 * Stores the result of a check, unless the request was checked, refreshed or retargeted since `row` was loaded: the
 * heads that were read after it may be outdated, too.
 * @returns false if nothing was stored
 */
export const storeStatus = async (
  { store }: Pick<Platform, 'store'>,
  { id, diff_id, head_sha, checked_source_sha, checked_target_sha }: CheckedRow,
  { source_sha, target_sha }: Heads,
  { status, problem }: MergeCheck,
): Promise<boolean> => {
  const { numUpdatedRows } = await store.write(
    async ({ db }) =>
      await db
        .updateTable('merge_requests')
        .set({
          merge_status: status,
          merge_error: mergeError(problem),
          checked_source_sha: source_sha,
          checked_target_sha: target_sha,
        })
        .where('id', '=', id)
        .where('state', '=', 'opened')
        .where('diff_id', 'is not distinct from', diff_id)
        .where('head_sha', 'is not distinct from', head_sha)
        .where('checked_source_sha', 'is not distinct from', checked_source_sha)
        .where('checked_target_sha', 'is not distinct from', checked_target_sha)
        .executeTakeFirst(),
  );
  return numUpdatedRows > 0n;
};

const reloadChecked = async (
  { store }: Platform,
  { id }: CheckedRequest,
): Promise<CheckedRequest | undefined> =>
  await store.db
    .selectFrom('merge_requests')
    .select(['id', 'state', 'project_id', 'source_project_id', 'source_branch', 'target_branch', 'diff_id'])
    .select(['head_sha', 'merge_status', 'checked_source_sha', 'checked_target_sha'])
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();

/** Attempts of a check whose request changes meanwhile; a later read checks again. */
const maxAttempts = 3;

const check = async (
  platform: Platform,
  request: CheckedRequest,
  target: RepositoryLocation,
  attempt = 1,
): Promise<Status> => {
  const heads = await readHeads(platform, await loadBranches(platform.store.db, request, target));
  if (isFresh(request, heads)) return request.merge_status;
  const outcome = await evaluate(platform, request, target, heads);
  if (outcome === null) return 'unchecked';
  if ((await storeStatus(platform, request, heads, outcome)) || attempt === maxAttempts)
    return outcome.status;
  const now = await reloadChecked(platform, request);
  return now?.state === 'opened' ? await check(platform, now, target, attempt + 1) : outcome.status;
};

/** The running check, and the next one, shared by all callers that arrived after the first had started. */
type RunningChecks = { now: Promise<Status>; next: Promise<Status> | null };

const getRunningChecks = memoizePerStore((_platform: Platform) => new Map<string, RunningChecks>());

/**
 * Shares one check between concurrent callers. A check that is already running may not see the latest push of a later
 * caller, so later callers wait for the next check.
 */
const checkOnce = async (
  platform: Platform,
  request: CheckedRequest,
  target: RepositoryLocation,
): Promise<Status> => {
  const runningChecks = getRunningChecks(platform);
  const { id, merge_status, checked_source_sha, checked_target_sha, diff_id, head_sha } = request;
  const key = [id, merge_status, checked_source_sha, checked_target_sha, diff_id, head_sha].join(' ');
  const begin = async (): Promise<Status> => {
    const checks: RunningChecks = { now: check(platform, request, target), next: null };
    runningChecks.set(key, checks);
    try {
      return await checks.now;
    } finally {
      if (runningChecks.get(key) === checks) runningChecks.delete(key);
    }
  };
  const running = runningChecks.get(key);
  if (running === undefined) return await begin();
  running.next ??= running.now.then(begin, begin);
  return await running.next;
};

/** Milliseconds a reader waits for git when it is busy. The check then continues in the background. */
const maxWaitMilliseconds = 5_000;

/**
 * Returns the merge status of a request for the current heads of its branches. If git does not answer in time, returns
 * the stored status and finishes the check in the background.
 * @param target the target project of the request
 */
export const checkMergeStatus = async (
  platform: Platform,
  request: CheckedRequest,
  target: RepositoryLocation,
): Promise<Status> => {
  if (request.state !== 'opened') return request.merge_status;
  // Read before the refs, which are therefore never older.
  const version = getStatusVersion(platform);
  const kept = findKeptStatus(platform, request.id, version);
  if (kept !== null) return kept;
  const work = checkOnce(platform, request, target);
  // The caller may have stopped waiting.
  void work.then(
    (status) => keepStatus(platform, request.id, { version, status }),
    () => undefined,
  );
  try {
    return await waitAtMost(work, maxWaitMilliseconds, request.merge_status);
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    if (isGitFailure(error, 'limit')) scheduleChecks(platform, [request.id]);
    platform.log.warn({ err: error, merge_request: request.id }, 'a merge request was not checked');
    return request.merge_status;
  }
};

/** Maximum number of queued checks per platform. Requests beyond it are checked when they are read. */
const maxQueuedChecks = 200;
const waiting = new WeakMap<Platform, Set<number>>();

const checkById = async (platform: Platform, id: number): Promise<void> => {
  const row = await platform.store.db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .selectAll('merge_requests')
    .select(repositoryColumns)
    .where('merge_requests.id', '=', id)
    .where('merge_requests.deleted_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return;
  await checkMergeStatus(platform, row, { ...row, id: row.project_id });
};

const checkAll = async (platform: Platform, ids: Set<number>): Promise<void> => {
  for (const id of ids) {
    await checkById(platform, id).catch((error: unknown) =>
      platform.log.debug({ err: error, merge_request: id }, 'a merge request was not checked'),
    );
    ids.delete(id);
  }
};

/** Queues merge checks of listed requests in memory. A restart loses only the queue: reads check again. */
export const scheduleChecks = (platform: Platform, ids: readonly number[]): void => {
  const present = waiting.get(platform);
  const queue = present ?? new Set<number>();
  for (const id of ids) if (queue.size < maxQueuedChecks) queue.add(id);
  if (present !== undefined || queue.size === 0) return;
  waiting.set(platform, queue);
  void checkAll(platform, queue).finally(() => waiting.delete(platform));
};
