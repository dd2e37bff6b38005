/**
 * Whether a request can be merged: looked at when it is read, and remembered for the two commits that were looked at.
 * The look changes nothing that anybody did, so `updated_at` stays.
 */
import { sql } from 'kysely';
import type { Platform } from '../access/call.ts';
import { isGitFailure } from '../git/failure.ts';
import type { Oid } from '../git/protocol_types.ts';
import { repositoryOf } from '../repository/open.ts';
import { oncePer } from '../once_per.ts';
import { type RepositoryPlace, placeColumns } from '../git/repository.ts';
import { type Heads, branchesOf, readHeads } from './heads.ts';
import type { MergeRequestRow } from './rows.ts';
import { latestVersion } from './version_queries.ts';

type Status = MergeRequestRow['merge_status'];

/** What of a request decides whether it can be merged. */
export type Checked = Pick<
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

/** Whether what is stored was found for these heads. */
const isFresh = (request: Checked, { source_sha, target_sha }: Heads): boolean =>
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
  target: RepositoryPlace,
  ours: Oid,
  theirs: Oid,
): Promise<MergeCheck> => {
  try {
    const { clean } = await repositoryOf(platform, target).ask('merge.check', { ours, theirs });
    return clean ? { status: 'can_be_merged', problem: null } : notMergeable;
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return tooLargeToMerge;
    throw error;
  }
};

/** @returns null: its newest commits are not in the target's repository yet, they are on their way */
const look = async (
  platform: Platform,
  request: Checked,
  target: RepositoryPlace,
  { source_sha, target_sha }: Heads,
): Promise<MergeCheck | null> => {
  if (source_sha === null || target_sha === null) return notMergeable;
  if (source_sha !== request.head_sha && request.source_project_id !== target.id) return null;
  const version = await latestVersion(platform.store.db, request);
  const isCurrent = version?.head_commit_sha === source_sha;
  const isEmpty = isCurrent && (version.state === 'empty' || version.base_commit_sha === null);
  return isEmpty ? notMergeable : await tryMerge(platform, target, target_sha, source_sha);
};

/** Keeps the failure of a rebase; removes that of a check which no longer applies. */
const mergeError = (problem: string | null) =>
  problem ??
  sql<string | null>`case when merge_error = ${tooLargeToMerge.problem} then null else merge_error end`;

/** Stores the outcome of a check, unless another version came meanwhile. */
export const storeStatus = async (
  { store }: Pick<Platform, 'store'>,
  { id, head_sha }: Pick<Checked, 'id' | 'head_sha'>,
  { source_sha, target_sha }: Heads,
  { status, problem }: MergeCheck,
): Promise<void> => {
  await store.write(
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
        .where('head_sha', head_sha === null ? 'is' : '=', head_sha)
        .execute(),
  );
};

const check = async (platform: Platform, request: Checked, target: RepositoryPlace): Promise<Status> => {
  const heads = await readHeads(platform, await branchesOf(platform.store.db, request, target));
  if (isFresh(request, heads)) return request.merge_status;
  const outcome = await look(platform, request, target, heads);
  if (outcome === null) return 'unchecked';
  await storeStatus(platform, request, heads, outcome);
  return outcome.status;
};

/** The look that is under way, and the one after it, which those share who asked meanwhile. */
type Looks = { now: Promise<Status>; next: Promise<Status> | null };

const looksOf = oncePer((_platform: Platform) => new Map<string, Looks>());

/** Many who ask at once look once; but a look that began before somebody asked may not know what he did. */
const checkOnce = async (platform: Platform, request: Checked, target: RepositoryPlace): Promise<Status> => {
  const all = looksOf(platform);
  const { id, merge_status, checked_source_sha, checked_target_sha, diff_id, head_sha } = request;
  const key = [id, merge_status, checked_source_sha, checked_target_sha, diff_id, head_sha].join(' ');
  const begin = async (): Promise<Status> => {
    const looks: Looks = { now: check(platform, request, target), next: null };
    all.set(key, looks);
    try {
      return await looks.now;
    } finally {
      if (all.get(key) === looks) all.delete(key);
    }
  };
  const known = all.get(key);
  if (known === undefined) return await begin();
  known.next ??= known.now.then(begin, begin);
  return await known.next;
};

/** Milliseconds that a reader waits for a storage that has much to do: the look goes on without him. */
const patience = 5_000;

const inTime = async (work: Promise<Status>, otherwise: Status): Promise<Status> => {
  const late = Promise.withResolvers<Status>();
  const timer = setTimeout(() => late.resolve(otherwise), patience).unref();
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Whether an open request can be merged as its branches are now; what is stored, where the storage does not answer in
 * time: then it is looked at behind that.
 * @param target its target project
 */
export const checkMergeStatus = async (
  platform: Platform,
  request: Checked,
  target: RepositoryPlace,
): Promise<Status> => {
  if (request.state !== 'opened') return request.merge_status;
  const work = checkOnce(platform, request, target);
  work.catch(() => undefined); // nobody may wait for it any more
  try {
    return await inTime(work, request.merge_status);
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    if (isGitFailure(error, 'limit')) scheduleChecks(platform, [request.id]);
    platform.log.warn({ err: error, merge_request: request.id }, 'a merge request was not checked');
    return request.merge_status;
  }
};

/** Requests that wait for a look, of each platform; more than these are looked at when they are read. */
const mostWaiting = 200;
const waiting = new WeakMap<Platform, Set<number>>();

const checkById = async (platform: Platform, id: number): Promise<void> => {
  const row = await platform.store.db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .selectAll('merge_requests')
    .select(placeColumns)
    .where('merge_requests.id', '=', id)
    .where('merge_requests.deleted_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return;
  await checkMergeStatus(platform, row, { ...row, id: row.project_id });
};

const checkAll = async (platform: Platform, ids: Set<number>): Promise<void> => {
  for (const id of ids) {
    // oxlint-disable-next-line no-await-in-loop -- one after another: nobody waits for it
    await checkById(platform, id).catch((error: unknown) =>
      platform.log.debug({ err: error, merge_request: id }, 'a merge request was not checked'),
    );
    ids.delete(id);
  }
};

/** Has requests of a list checked some time soon: nobody waits for it, and where the process ends, nothing is lost. */
export const scheduleChecks = (platform: Platform, ids: readonly number[]): void => {
  const present = waiting.get(platform);
  const all = present ?? new Set<number>();
  for (const id of ids) if (all.size < mostWaiting) all.add(id);
  if (present !== undefined || all.size === 0) return;
  waiting.set(platform, all);
  void checkAll(platform, all).finally(() => waiting.delete(platform));
};
