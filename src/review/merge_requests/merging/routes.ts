/** Routes for merging, scheduled merges and rebasing. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { boolean, bool, longText, object, optional, string, text } from '../../../platform/http/schema.ts';
import { type MergeTime, acceptRequest } from './accept.ts';
import { cancelDeferred } from './scheduled/merge_when_pipeline_succeeds.ts';
import { findMergeRequest, findReadable, findToMerge } from '../find.ts';
import { singleMergeRequestShape } from '../json.ts';
import { getMerger } from './merge.ts';
import { updateMergeRef } from './merge_ref.ts';
import { requestParams, requestPath } from '../params.ts';
import { enqueueRebase } from './rebase.ts';
import { singleReply } from '../show.ts';

const shared = {
  area: 'merge_requests',
  audience: 'user',
  reply: singleMergeRequestShape,
} as const;

const toMergeTime = (whenPipelineSucceeds = false, whenChecksPass = false): MergeTime => {
  if (whenChecksPass) return 'checks_pass';
  return whenPipelineSucceeds ? 'pipeline_succeeds' : 'now';
};

export const mergeRoute = endpoint({
  ...shared,
  method: 'PUT',
  path: `${requestPath}/merge`,
  summary: 'Merge a merge request, or have it merged when its pipeline succeeds or all its checks pass',
  params: object({
    ...requestParams,
    merge_commit_message: optional(longText()),
    should_remove_source_branch: optional(boolean()),
    merge_when_pipeline_succeeds: optional(boolean()),
    auto_merge: optional(boolean({ description: 'merge as soon as all checks pass' })),
    sha: optional(text({ description: 'must be the head of the source branch' })),
    squash: optional(boolean()),
    squash_commit_message: optional(longText()),
  }),
  handle: async (call, params) => {
    const loaded = await findToMerge(call, params.id, params.merge_request_iid);
    const {
      id: _id,
      merge_request_iid: _iid,
      merge_when_pipeline_succeeds,
      auto_merge,
      sha,
      ...input
    } = params;
    const time = toMergeTime(merge_when_pipeline_succeeds, auto_merge);
    const request = { ...input, ...(sha !== undefined && sha !== '' && { sha }), time };
    return await singleReply(call, await acceptRequest(call, loaded, request));
  },
});

const cancel = (method: 'PUT' | 'POST') =>
  endpoint({
    ...shared,
    method,
    path: `${requestPath}/cancel_merge_when_pipeline_succeeds`,
    summary: 'Cancel the automatic merge of a merge request',
    params: object(requestParams),
    handle: async (call, params) => {
      const loaded = await findToMerge(call, params.id, params.merge_request_iid);
      return await singleReply(call, await cancelDeferred(call.platform, loaded, getMerger(call)));
    },
  });

export const cancelRoute = cancel('PUT');

const rebase = endpoint({
  ...shared,
  method: 'PUT',
  path: `${requestPath}/rebase`,
  summary: 'Rebase a merge request',
  params: object({
    ...requestParams,
    skip_ci: boolean({ default: false, description: 'skip the pipeline of the rebased commits' }),
  }),
  reply: object({ rebase_in_progress: bool }),
  status: 202,
  handle: async (call, params) => {
    const loaded = await findMergeRequest(call, params.id, params.merge_request_iid);
    await enqueueRebase(call, loaded, params.skip_ci);
    return { rebase_in_progress: true };
  },
});

const ref = endpoint({
  ...shared,
  method: 'GET',
  path: `${requestPath}/merge_ref`,
  summary: 'Merge a merge request into a separate ref, without moving a branch',
  params: object(requestParams),
  reply: object({ commit_id: string }),
  handle: async (call, params) => {
    const loaded = await findReadable(call, params.id, params.merge_request_iid);
    return { commit_id: await updateMergeRef(call, loaded) };
  },
});

/** Routes that the API document does not describe. */
export const moreMergeRoutes = [cancel('POST'), rebase, ref];
