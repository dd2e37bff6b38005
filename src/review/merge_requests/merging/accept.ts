/** Accepts a merge request: merges it immediately, when its pipeline succeeds, or when all its checks pass. */
import type { Call } from '../../../core/access/call.ts';
import { Failure } from '../../../platform/errors.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { deferMerge } from './scheduled/merge_when_pipeline_succeeds.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../find.ts';
import { isGreen } from './head_pipeline.ts';
import { type MergeParams, type MergeAttempt, acceptMerge, prepareHeads, getMerger } from './merge.ts';
import { isReviewed, requireOpen, requireReady } from './rules.ts';
import { loadFinalStatus } from './pending_pushes.ts';

/** When a request is merged. */
export type MergeTime = 'now' | 'pipeline_succeeds' | 'checks_pass';

type Accepted = Omit<MergeParams, 'auto_merge_strategy'> & { time: MergeTime };

/** Merges immediately if the head's pipeline has succeeded, pinned to that head. Otherwise defers the merge. */
const acceptWhenGreen = async (db: Reader, attempt: MergeAttempt): Promise<LoadedMergeRequest> => {
  const { loaded, params } = attempt;
  const { source_sha: sha } = await prepareHeads(attempt);
  const { merge_request } = await reloadMergeRequest(db, loaded.project, loaded.merge_request.id);
  const isSuccess =
    merge_request.head_sha === sha && (await loadFinalStatus(db, merge_request)) === 'success';
  return isSuccess
    ? await acceptMerge({ ...attempt, params: { ...params, sha } })
    : await deferMerge(attempt);
};

/** Merges immediately if all checks pass, pinned to the checked head. Otherwise defers the merge. */
const acceptWhenReady = async (db: Reader, attempt: MergeAttempt): Promise<LoadedMergeRequest> => {
  const { loaded, params } = attempt;
  const { source_sha: sha } = await prepareHeads(attempt);
  const current = await reloadMergeRequest(db, loaded.project, loaded.merge_request.id);
  const isCurrent = current.merge_request.head_sha === sha && (await isReviewed(db, current));
  const status = isCurrent ? await loadFinalStatus(db, current.merge_request) : 'coming';
  const later = { ...attempt, params: { ...params, auto_merge_strategy: 'merge_when_checks_pass' as const } };
  if (status === 'coming' || !isGreen(status)) return await deferMerge(later);
  try {
    return await acceptMerge({ ...attempt, params: { ...params, sha } });
  } catch (error) {
    // A check failed meanwhile, or the branches conflict, which the deferral refuses.
    if (error instanceof Failure && error.kind === 'method_not_allowed') return await deferMerge(later);
    throw error;
  }
};

/**
 * Merges a request, or defers that until its pipeline succeeds or all its checks pass.
 * @throws Failure 401, 405, 406, 409
 */
export const acceptRequest = async (
  call: Call,
  loaded: LoadedMergeRequest,
  { time, ...params }: Accepted,
): Promise<LoadedMergeRequest> => {
  const { db, platform, baseUrl } = call;
  await requireOpen(db, call.viewer, loaded);
  const attempt = { platform, loaded, merger: getMerger(call), params, baseUrl };
  if (time === 'checks_pass') return await acceptWhenReady(db, attempt);
  await requireReady(db, loaded, time === 'pipeline_succeeds');
  return time === 'now' ? await acceptMerge(attempt) : await acceptWhenGreen(db, attempt);
};
