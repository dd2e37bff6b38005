/** Accepts a merge request as its caller asks for: at once, or when its pipeline succeeds. */
import type { Call } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import { deferMerge } from './deferred.ts';
import { type FoundMergeRequest, reloadMergeRequest } from './find.ts';
import { type MergeParams, type Merging, acceptMerge, endsOf, mergerOf } from './merge.ts';
import { requireOpen, requireReady } from './merge_rules.ts';
import { certainStatus } from './unfollowed.ts';

type Accepted = MergeParams & { isDeferred: boolean };

/** At once where the pipeline of the head has succeeded: then that head, not what is pushed meanwhile. */
const acceptLater = async (db: Reader, merging: Merging): Promise<FoundMergeRequest> => {
  const { found, params } = merging;
  const { source_sha: sha } = await endsOf(merging);
  const { merge_request } = await reloadMergeRequest(db, found.project, found.merge_request.id);
  const isGreen = merge_request.head_sha === sha && (await certainStatus(db, merge_request)) === 'success';
  return isGreen ? await acceptMerge({ ...merging, params: { ...params, sha } }) : await deferMerge(merging);
};

/**
 * Merges a request, or defers that until its pipeline succeeds.
 * @throws Failure 401, 405, 406, 409
 */
export const acceptRequest = async (
  call: Call,
  found: FoundMergeRequest,
  { isDeferred, ...params }: Accepted,
): Promise<FoundMergeRequest> => {
  const { db, platform, baseUrl } = call;
  await requireOpen(db, call.viewer, found);
  await requireReady(db, found, isDeferred);
  const merging = { platform, found, merger: mergerOf(call), params, baseUrl };
  return isDeferred ? await acceptLater(db, merging) : await acceptMerge(merging);
};
