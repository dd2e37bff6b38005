/** Accepts a merge request: merges it at once, or when its pipeline succeeds. */
import type { Call } from '../../../core/access/call.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { deferMerge } from './merge_when_pipeline_succeeds.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../find.ts';
import { type MergeParams, type MergeAttempt, acceptMerge, prepareHeads, getMerger } from './merge.ts';
import { requireOpen, requireReady } from './rules.ts';
import { loadFinalStatus } from './pending_pushes.ts';

type Accepted = MergeParams & { isDeferred: boolean };

/** Merges at once if the head's pipeline has succeeded, pinned to that head. Otherwise defers the merge. */
const acceptWhenGreen = async (db: Reader, attempt: MergeAttempt): Promise<LoadedMergeRequest> => {
  const { loaded, params } = attempt;
  const { source_sha: sha } = await prepareHeads(attempt);
  const { merge_request } = await reloadMergeRequest(db, loaded.project, loaded.merge_request.id);
  const isGreen = merge_request.head_sha === sha && (await loadFinalStatus(db, merge_request)) === 'success';
  return isGreen ? await acceptMerge({ ...attempt, params: { ...params, sha } }) : await deferMerge(attempt);
};

/**
 * Merges a request, or defers that until its pipeline succeeds.
 * @throws Failure 401, 405, 406, 409
 */
export const acceptRequest = async (
  call: Call,
  loaded: LoadedMergeRequest,
  { isDeferred, ...params }: Accepted,
): Promise<LoadedMergeRequest> => {
  const { db, platform, baseUrl } = call;
  await requireOpen(db, call.viewer, loaded);
  await requireReady(db, loaded, isDeferred);
  const attempt = { platform, loaded: loaded, merger: getMerger(call), params, baseUrl };
  return isDeferred ? await acceptWhenGreen(db, attempt) : await acceptMerge(attempt);
};
