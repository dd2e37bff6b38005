/** Endpoints for the pipelines of a merge request and of its source branch. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { id as idParam, object } from '../../../platform/http/schema.ts';
import { findReadable } from '../../../review/merge_requests/find.ts';
import { projectParam } from '../../../code/repository/find_code.ts';
import {
  singlePipelineJson,
  singlePipelineShape,
} from '../../../code/repository/statuses/pipeline_detail.ts';
import { pipelineJson, pipelineShape } from '../json.ts';
import { listMergeRequestPipelines } from '../list.ts';
import { findPipelineSource, runRequestPipeline } from '../merge_request_pipelines.ts';

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
    const { pipeline, project } = await runRequestPipeline(call, target);
    return await singlePipelineJson(call, pipeline, project);
  },
});

export const mergeRequestPipelineRoutes = [list, create];
