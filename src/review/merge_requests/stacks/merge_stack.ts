/** Merges a merge request with the merge requests below it in its stack. */
import type { Call } from '../../../core/access/call.ts';
import { Failure } from '../../../platform/errors.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../find.ts';
import { acceptRequest } from '../merging/accept.ts';
import { type MergeChecks, isMergeable, loadMergeChecks, withMergeStatus } from '../merging/merge_checks.ts';
import { updateMergeRequest } from '../update.ts';
import { type StackedRequest, loadStack } from './load_stack.ts';

/** Maximum number of requests that are merged below another. */
const maxMerged = 5;

/** Why a stack cannot be merged. */
export type StackObstacle =
  | { reason: 'too_many'; most: number }
  | {
      /** The request that cannot be merged. */
      iid: number;
      reason: 'draft' | 'conflict' | 'changes_requested' | 'forbidden' | 'checks';
    };

const findReason = (checks: MergeChecks): Exclude<StackObstacle['reason'], 'too_many'> | null => {
  if (!checks.mayMerge) return 'forbidden';
  if (isMergeable(checks)) return null;
  if (checks.isDraft) return 'draft';
  if (checks.branches === 'conflict') return 'conflict';
  return checks.areChangesRequested ? 'changes_requested' : 'checks';
};

/** Returns the requests below, from the lowest on, if the caller may merge each of them now; otherwise why not. */
export const loadMergeableBelow = async (
  call: Call,
  { project }: LoadedMergeRequest,
  below: readonly StackedRequest[],
): Promise<{ requests: StackedRequest[]; obstacle: StackObstacle | null }> => {
  if (below.length > maxMerged) return { requests: [], obstacle: { reason: 'too_many', most: maxMerged } };
  for (const { id, iid } of below) {
    const loaded = await withMergeStatus(call, await reloadMergeRequest(call.db, project, id));
    const reason = findReason(await loadMergeChecks(call, loaded));
    if (reason !== null) return { requests: [], obstacle: { iid, reason } };
  }
  return { requests: below.toReversed(), obstacle: null };
};

const mergeInto = async (
  call: Call,
  { project }: LoadedMergeRequest,
  id: number,
  { target_branch, sha }: { target_branch: string; sha: string },
): Promise<LoadedMergeRequest> => {
  const loaded = await reloadMergeRequest(call.db, project, id);
  const retargeted =
    loaded.merge_request.target_branch === target_branch
      ? loaded
      : await updateMergeRequest(call, loaded, { target_branch });
  return await acceptRequest(call, retargeted, { time: 'now', sha });
};

/**
 * Merges the stack bottom up into the target branch of the lowest request. Stops at the first failure; earlier merges
 * stay.
 * @param shas heads of all, as the caller has seen them, from the lowest on; this one's is the last
 * @throws Failure 401, 405, 406 and 409 as a merge, 409 if the stack has changed, 422 naming the request below that cannot be
 * merged
 */
export const mergeStack = async (
  call: Call,
  loaded: LoadedMergeRequest,
  shas: readonly string[],
): Promise<LoadedMergeRequest> => {
  const { below } = await loadStack(call.db, loaded);
  const requests = [...below.toReversed(), loaded.merge_request];
  const [lowest] = requests;
  if (shas.length !== requests.length || lowest === undefined) {
    throw new Failure('conflict', { message: 'The stack has changed. Check it before you merge.' });
  }
  const { target_branch } = lowest;
  let merged = loaded;
  for (const [at, { id, iid }] of requests.entries()) {
    try {
      merged = await mergeInto(call, loaded, id, { target_branch, sha: shas[at] ?? '' });
    } catch (error) {
      if (!(error instanceof Failure) || id === loaded.target.id) throw error;
      throw new Failure('unprocessable', { message: `!${iid} cannot be merged now. Open it to see why.` });
    }
  }
  return merged;
};
