/**
 * Merges a merge request: git creates the commit and moves the target branch, then the database records it. Concurrent merges
 * into one branch build on each other; of concurrent merges of one request, one succeeds.
 */
import type { Call } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { requireActor } from '../../../core/access/call.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Cause } from '../../../core/events/record_event.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { withMutex } from '../../../platform/keyed_mutex.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { type MoveInGit, moveInGit } from '../../../code/repository/refs/move_refs.ts';
import { finishOperation } from '../../../code/repository/refs/operations.ts';
import { branchPrefix } from '../../../code/repository/refs/resolve.ts';
import { type MergeData, mergeCompletion } from './complete_merge.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../find.ts';
import { loadBranches, readHeads } from '../refresh/branch_heads.ts';
import { type MergeCommits, makeMergeCommit } from './merge_commit.ts';
import { loadMergeMessage, loadSquashMessage } from './default_messages.ts';
import { cannotBeMerged, otherHead, requireOpen, requireReady } from './rules.ts';
import { type MergeCheck, notMergeable, storeStatus, tooLargeToMerge } from './merge_status.ts';
import { isBeingMerged, lockUnlessMerging, writeUnlessMerging } from './merge_lock.ts';
import type { FullMergeRequest } from '../rows.ts';
import { storeNewVersion } from '../versions/new_version.ts';
import { latestVersion } from '../versions/queries.ts';

export type MergeParams = {
  merge_commit_message?: string;
  squash_commit_message?: string;
  squash?: boolean;
  should_remove_source_branch?: boolean;
  sha?: string;
  /** Condition of a scheduled merge; absent: only the pipeline. */
  auto_merge_strategy?: 'merge_when_checks_pass';
};

/** The user who merges, with name and email for the commits. */
export type Merger = { cause: Cause; viewer: Viewer; name: string; email: string };

export type MergeAttempt = {
  platform: Platform;
  loaded: LoadedMergeRequest;
  merger: Merger;
  params: MergeParams;
  baseUrl?: string;
  /** Schedule of the merge; absent: merged immediately. */
  schedule?: Schedule;
};

/** User who scheduled a merge, and its parameters. */
export type Schedule = Pick<FullMergeRequest, 'merge_user_id' | 'merge_params'>;

/** The schedule of a merge was canceled or replaced, so this merge must not continue. */
export class ScheduleChanged extends Error {}

/** @throws ScheduleChanged */
const requireSchedule = ({ schedule }: MergeAttempt, { merge_request: now }: LoadedMergeRequest): void => {
  if (schedule === undefined || now.state !== 'opened') return;
  const isSame =
    now.merge_when_pipeline_succeeds === 1 &&
    now.merge_user_id === schedule.merge_user_id &&
    now.merge_params === schedule.merge_params;
  if (!isSame) throw new ScheduleChanged();
};

export const getMerger = (call: Call): Merger => {
  const actor = requireActor(call);
  return { cause: actor, viewer: call.viewer, name: actor.user.name, email: actor.user.email };
};

/** The two commits to merge. */
type MergeHeads = { source_sha: Oid; target_sha: Oid };

/**
 * Reads the current heads, and stores a version if the source has moved.
 * @throws Failure 409 if the source head is not `params.sha`, 405 if there is nothing to merge
 */
export const prepareHeads = async ({ platform, loaded, params }: MergeAttempt): Promise<MergeHeads> => {
  const { merge_request, project } = loaded;
  const branches = await loadBranches(platform.store.db, merge_request, project);
  const { source_sha, target_sha } = await readHeads(platform, branches);
  if (params.sha !== undefined && source_sha !== null && params.sha !== source_sha) throw otherHead();
  if (source_sha === null || target_sha === null) throw cannotBeMerged();
  if (source_sha !== merge_request.head_sha) {
    await storeNewVersion(platform, loaded, { ...branches, heads: { source_sha, target_sha } });
  }
  const { merge_request: now } = await reloadMergeRequest(platform.store.db, project, merge_request.id);
  const version = await latestVersion(platform.store.db, now);
  if (version === null || version.state === 'empty' || version.base_commit_sha === null)
    throw cannotBeMerged();
  return { source_sha, target_sha };
};

const isSquashed = ({ loaded: { project, merge_request }, params }: MergeAttempt): boolean => {
  if (project.squash_option === 'always') return true;
  return project.squash_option !== 'never' && (params.squash ?? merge_request.squash === 1);
};

/** Returns the squash message; null to keep the commits. A single commit is squashed only if a message is given. */
const getSquashMessage = async (attempt: MergeAttempt): Promise<string | null> => {
  const { platform, loaded, params } = attempt;
  if (!isSquashed(attempt)) return null;
  const version = await latestVersion(platform.store.db, loaded.merge_request);
  const message = params.squash_commit_message ?? '';
  if (message === '' && version?.commits_count === 1) return null;
  return message === '' ? await loadSquashMessage(attempt) : message;
};

const getMergeMessage = async (attempt: MergeAttempt): Promise<string> => {
  const message = attempt.params.merge_commit_message ?? '';
  return message === '' ? await loadMergeMessage(attempt) : message;
};

type Messages = { merge_message: string; squash_message: string | null };

/** @returns the commits, or the check result that prevents them */
const makeCommit = async (
  attempt: MergeAttempt,
  heads: MergeHeads,
  messages: Messages,
): Promise<MergeCommits | MergeCheck> => {
  const { platform, loaded, merger } = attempt;
  const commit = {
    ...heads,
    ...messages,
    merger,
    author: loaded.merge_request.author,
    now: platform.clock.now(),
  };
  try {
    return (await makeMergeCommit(platform, loaded.project, commit)) ?? notMergeable;
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return tooLargeToMerge;
    throw error;
  }
};

/** @throws Failure 405 for conflicts, a required rebase, or changes that are too large */
const buildMerge = async (
  attempt: MergeAttempt,
  heads: MergeHeads,
  messages: Messages,
): Promise<MergeCommits> => {
  const { platform, loaded } = attempt;
  const result = await makeCommit(attempt, heads, messages);
  if ('tip' in result) return result;
  if (loaded.project.merge_method === 'merge') {
    await storeStatus(platform, loaded.merge_request, heads, result);
  }
  throw cannotBeMerged();
};

/** The request changed between check and merge: prepare and try again. */
class ConcurrentChange extends Error {}

/** The fields that the merge commits and their effects depend on. */
const mergedFields = [
  'target_branch',
  'title',
  'description',
  'squash',
  'should_remove_source_branch',
  'force_remove_source_branch',
] as const;

const checkAgain = async (tx: Tx, attempt: MergeAttempt, { source_sha }: MergeHeads): Promise<void> => {
  const { loaded, merger } = attempt;
  const isFree = await lockUnlessMerging(tx, loaded.merge_request);
  // The project may have been archived or deleted meanwhile.
  const project = await loadProject(tx.db, loaded.project.id);
  if (project === null) throw notFound();
  const now = await reloadMergeRequest(tx.db, project, loaded.merge_request.id);
  if (!isFree) throw new ConcurrentChange();
  await requireOpen(tx.db, merger.viewer, now);
  requireSchedule(attempt, now);
  await requireReady(tx.db, now, false);
  const isChanged = mergedFields.some((name) => now.merge_request[name] !== loaded.merge_request[name]);
  if (isChanged || now.merge_request.head_sha !== source_sha) throw new ConcurrentChange();
};

/** User on whose behalf the source branch is deleted: the merger, or the author if they forced removal. */
const getBranchRemover = ({ loaded: { merge_request }, merger, params }: MergeAttempt): number | null => {
  const { should_remove_source_branch: stored, force_remove_source_branch: isForced } = merge_request;
  const shouldRemove = params.should_remove_source_branch ?? (stored === null ? undefined : stored === 1);
  if (shouldRemove === true) return merger.cause.user.id;
  return shouldRemove === undefined && isForced === 1 ? merge_request.author_id : null;
};

const moveTargetBranch = async (
  attempt: MergeAttempt,
  heads: MergeHeads,
  { tip, squash_commit_sha }: MergeCommits,
): Promise<MoveInGit> => {
  const { platform, loaded, merger, params } = attempt;
  const { merge_request, project } = loaded;
  const { should_remove_source_branch } = params;
  const data: MergeData = {
    merge_request_id: merge_request.id,
    merge_commit_sha: tip,
    squash_commit_sha,
    source_sha: heads.source_sha,
    remove_source_as: getBranchRemover(attempt),
    ...(should_remove_source_branch !== undefined && { should_remove_source_branch }),
  };
  return await moveInGit(platform, {
    project,
    cause: merger.cause,
    kind: 'merge',
    updates: [{ ref: branchPrefix + merge_request.target_branch, old: heads.target_sha, new: tip }],
    data,
    check: async (tx) => await checkAgain(tx, attempt, heads),
    complete: mergeCompletion(platform),
  });
};

/** Maximum attempts; far more than concurrent merges need. */
const maxAttempts = 30;

const isLostRace = (error: unknown): boolean =>
  error instanceof ConcurrentChange || isGitFailure(error, 'conflict');

/** Waits for another merge of this request to end. */
const waitForOtherMerge = async ({ platform, loaded: { merge_request } }: MergeAttempt): Promise<void> =>
  await writeUnlessMerging(platform, merge_request, async () => undefined);

/** The inputs of a merge that do not depend on the head of the target branch. */
type Prepared = { attempt: MergeAttempt; source_sha: Oid; messages: Messages };

const prepareMerge = async (attempt: MergeAttempt): Promise<Prepared> => {
  const { platform, loaded, merger } = attempt;
  const { db } = platform.store;
  const now = { ...attempt, loaded: await reloadMergeRequest(db, loaded.project, loaded.merge_request.id) };
  await requireOpen(db, merger.viewer, now.loaded);
  requireSchedule(attempt, now.loaded);
  await requireReady(db, now.loaded, false);
  const { source_sha } = await prepareHeads(now);
  const [merge_message, squash_message] = [await getMergeMessage(now), await getSquashMessage(now)];
  return { attempt: now, source_sha, messages: { merge_message, squash_message } };
};

/** @throws ConcurrentChange if the source has moved since the preparation, or another process merged the request */
const readCurrentHeads = async ({
  attempt: { platform, loaded },
  source_sha,
}: Prepared): Promise<MergeHeads> => {
  const { db } = platform.store;
  const { merge_request, project } = loaded;
  const heads = await readHeads(platform, await loadBranches(db, merge_request, project));
  if (heads.source_sha !== source_sha || heads.target_sha === null) throw new ConcurrentChange();
  // Read after the heads: if they contain another merge of this request, it is either in progress or has changed the state.
  if (await isBeingMerged(db, merge_request)) throw new ConcurrentChange();
  const { merge_request: now } = await reloadMergeRequest(db, project, merge_request.id);
  if (now.state !== merge_request.state) throw new ConcurrentChange();
  return { source_sha, target_sha: heads.target_sha };
};

/** @returns null if the merge must be prepared and tried again */
const tryMerge = async (prepared: Prepared): Promise<MoveInGit | null> => {
  const { attempt, messages } = prepared;
  try {
    const heads = await readCurrentHeads(prepared);
    return await moveTargetBranch(attempt, heads, await buildMerge(attempt, heads, messages));
  } catch (error) {
    if (!isLostRace(error)) throw error;
    await waitForOtherMerge(attempt);
    return null;
  }
};

/**
 * Merges a request. The caller must have called `requireOpen`. Only the steps that depend on the target branch are
 * serialized with other merges into it; the merge is recorded in the database after the mutex is released.
 * @throws Failure 405, 406, 409
 */
export const acceptMerge = async (attempt: MergeAttempt): Promise<LoadedMergeRequest> => {
  const { platform, loaded } = attempt;
  const { merge_request, project } = loaded;
  let prepared = await prepareMerge(attempt);
  const moved = await withMutex(platform, `merge ${project.id} ${merge_request.target_branch}`, async () => {
    for (let round = 0; round < maxAttempts; round += 1) {
      const done = await tryMerge(prepared);
      if (done !== null) return done;
      prepared = await prepareMerge(attempt);
    }
    throw cannotBeMerged();
  });
  await finishOperation(platform, moved);
  return await reloadMergeRequest(platform.store.db, project, merge_request.id);
};
