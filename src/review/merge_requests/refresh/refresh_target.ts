/** Updates open requests after a push to their target branch, which may already contain their commits. */
import type { Platform } from '../../../core/platform.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { type Oid, zeroOid } from '../../../platform/git/protocol_types.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { markMerged } from '../merging/complete_merge.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { loadBranches } from './branch_heads.ts';
import { writeUnlessMerging } from '../merging/merge_lock.ts';
import { scheduleChecks } from '../merging/merge_status.ts';
import { storeNewVersion } from '../versions/new_version.ts';
import { type OpenRequest, loadRequest, loadOpenInto, loadOpenWithCommits } from './open_requests.ts';

export type PushedBranch = { branch: string; old: Oid; new: Oid; user_id: number | null };

/** Maximum number of commits read per push. */
const maxCommits = 10_000;

type Pushed = {
  /** Commits the push added to the branch. */
  shas: Oid[];
  /** True if the old head is not an ancestor of the new head. */
  forced: boolean;
};

const comparePush = async (repository: Repository, { old, new: newOid }: PushedBranch): Promise<Pushed> => {
  try {
    const [{ is }, { commits }] = await Promise.all([
      repository.ask('commits.is_ancestor', { ancestor: old, descendant: newOid }),
      repository.ask('commits.list', { from: [newOid], not: [old], skip: 0, limit: maxCommits }),
    ]);
    return { shas: commits.map(({ id }) => id), forced: !is };
  } catch (error) {
    // After a force push, git may have collected the old commits.
    if (!isGitFailure(error, 'missing')) throw error;
    return { shas: [], forced: true };
  }
};

/**
 * Resets stored merge statuses that were not computed for the new head. Stores the head even if nothing was computed,
 * so that a check of the previous head that is still running does not store its result.
 */
const resetMergeStatuses = async (
  { store }: Platform,
  project: Project,
  pushed: PushedBranch,
): Promise<void> => {
  const target_sha = pushed.new === zeroOid ? null : pushed.new;
  await store.write(
    async ({ db }) =>
      await db
        .updateTable('merge_requests')
        .set({ merge_status: 'unchecked', checked_target_sha: target_sha })
        .where('project_id', '=', project.id)
        .where('target_branch', '=', pushed.branch)
        .where('state', '=', 'opened')
        .where('checked_target_sha', 'is distinct from', target_sha)
        .execute(),
  );
};

/** Marks a request as merged by the pusher, because the push contains its head. Creates no merge commit. */
const markMergedByPush = async (
  platform: Platform,
  { merge_request, project }: LoadedMergeRequest,
  { user_id }: PushedBranch,
): Promise<void> => {
  const { head_sha, id } = merge_request;
  const cause = user_id === null ? null : { user: { id: user_id }, sudo_by_id: null };
  await writeUnlessMerging(platform, merge_request, async (tx) => {
    const now = await tx.db
      .selectFrom('merge_requests')
      .select(['state', 'head_sha'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (now?.state !== 'opened' || head_sha === null || now.head_sha !== head_sha) return;
    await markMerged(
      platform,
      tx,
      { project_id: project.id, cause },
      {
        merge_request_id: id,
        merge_commit_sha: null,
        squash_commit_sha: null,
        source_sha: head_sha,
        remove_source_as: null,
      },
    );
  });
};

const refresh = async (
  platform: Platform,
  loaded: LoadedMergeRequest,
  pushed: PushedBranch,
  pushedShas: ReadonlySet<Oid>,
): Promise<void> => {
  const { head_sha, real_size } = loaded.merge_request;
  // A request without own commits has no size: the target contained its head before the push.
  const isBrought = head_sha !== null && real_size !== null && pushedShas.has(head_sha);
  if (isBrought) return await markMergedByPush(platform, loaded, pushed);
  const branches = await loadBranches(platform.store.db, loaded.merge_request, loaded.project);
  await storeNewVersion(platform, loaded, branches);
};

/** Updates the requests whose commits the push contains; after a force push all. */
const refreshTouched = async (
  platform: Platform,
  project: Project,
  pushed: PushedBranch,
  all: readonly OpenRequest[],
): Promise<void> => {
  const { db } = platform.store;
  const { shas, forced } = await comparePush(getRepository(platform, project), pushed);
  const touched = forced ? all : await loadOpenWithCommits(platform, project.id, pushed.branch, shas);
  const pushedShas = new Set(shas);
  for (const request of touched) {
    const loaded = await loadRequest(db, request);
    if (loaded?.merge_request.state === 'opened') await refresh(platform, loaded, pushed, pushedShas);
  }
};

/**
 * Updates the open requests into a branch. Resets outdated merge statuses, marks a request as merged if the push
 * contains its head, stores a new version where the merge base may have changed, and schedules checks. Idempotent.
 */
export const refreshTarget = async (
  platform: Platform,
  project: Project,
  pushed: PushedBranch,
): Promise<void> => {
  const { db } = platform.store;
  const openRequests = await loadOpenInto(db, project.id, pushed.branch);
  if (openRequests.length === 0) return;
  await resetMergeStatuses(platform, project, pushed);
  if (pushed.old !== zeroOid && pushed.new !== zeroOid)
    await refreshTouched(platform, project, pushed, openRequests);
  // Lists show conflicts before anybody opens the requests.
  scheduleChecks(
    platform,
    openRequests.map(({ id }) => id),
  );
};
