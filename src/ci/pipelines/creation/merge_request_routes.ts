/** Endpoints for the pipelines of a merge request and of its source branch. */
import { requireUser } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { may } from '../../../core/access/may.ts';
import { forbidden, invalid } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { id as idParam, object } from '../../../platform/http/schema.ts';
import { findReadable } from '../../../review/merge_requests/find.ts';
import { projectParam } from '../../../code/repository/code.ts';
import { createMergeRequestPipeline } from './follow_push.ts';
import {
  singlePipelineJson,
  singlePipelineShape,
} from '../../../code/repository/statuses/pipeline_detail.ts';
import { pipelineJson, pipelineShape } from '../json.ts';
import { listMergeRequestPipelines } from '../list.ts';
import { findPipelineSource } from '../request_pipelines.ts';

const shared = {
  path: '/projects/:id/merge_requests/:merge_request_iid/pipelines',
  area: 'pipelines',
  audience: 'user',
} as const;

const requestParams = { id: projectParam, merge_request_iid: idParam() };

const list = endpoint({
  method: 'GET',
  ...shared,
  summary: 'List pipelines of a merge request, newest first',
  list: true,
  params: object({ ...requestParams, ...pageParams }),
  reply: pipelineShape,
  handle: async (call, { id, merge_request_iid, ...page }) => {
    const target = await findReadable(call, id, merge_request_iid);
    const request = pageRequest(page);
    const source = await findPipelineSource(call, target);
    if (source === null) return { items: [], total: 0 };
    const { items, total } = await listMergeRequestPipelines(
      call.db,
      source.id,
      target.merge_request,
      request,
    );
    return { items: items.map((row) => pipelineJson(row, source, call)), total };
  },
});

const create = endpoint({
  method: 'POST',
  ...shared,
  summary: "Create a pipeline for a merge request's head",
  params: object(requestParams),
  reply: singlePipelineShape,
  handle: async (call, { id, merge_request_iid }) => {
    const target = await findReadable(call, id, merge_request_iid);
    const source = await findPipelineSource(call, target);
    if (source === null || !may(call.viewer, 'create_pipeline', source)) throw forbidden();
    const options = { user_id: requireUser(call).id, obeysSkipMessage: false, since: null };
    const created = await createMergeRequestPipeline(call.platform, target, options);
    if ('refused' in created) throw invalid({ base: [created.refused] });
    return await singlePipelineJson(call, created.pipeline, source);
  },
});

export const mergeRequestPipelineRoutes = [list, create];
