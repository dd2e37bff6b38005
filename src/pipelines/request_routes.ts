/** Pipelines of a merge request: of its own, and of its branch. */
import { type Call, endpoint, userOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import { forbidden, invalid } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { id as idParam, object } from '../http/schema.ts';
import { type FoundMergeRequest, findReadable } from '../merge_requests/find.ts';
import { type Project, loadProject } from '../projects/find.ts';
import { projectParam } from '../repository/code.ts';
import { createForRequest } from './follow_push.ts';
import { singlePipelineJson, singlePipelineShape } from '../repository/pipeline_single.ts';
import { pipelineJson, pipelineShape } from './json.ts';
import { listOfRequest } from './list.ts';

const shared = {
  path: '/projects/:id/merge_requests/:merge_request_iid/pipelines',
  area: 'pipelines',
  audience: 'user',
} as const;

const one = { id: projectParam, merge_request_iid: idParam() };

/** The project whose pipelines they are; null: it is gone, or its pipelines are not for the caller. */
const sourceOf = async (
  call: Call,
  { merge_request, project }: FoundMergeRequest,
): Promise<Project | null> => {
  const { source_project_id: id } = merge_request;
  if (id === null) return null;
  const source = id === project.id ? project : await loadProject(call.db, id);
  return source !== null && may(call.viewer, 'read_pipeline', source) ? source : null;
};

const list = endpoint({
  method: 'GET',
  ...shared,
  summary: 'Pipelines of a merge request, the newest first',
  list: true,
  params: object({ ...one, ...pageParams }),
  reply: pipelineShape,
  handle: async (call, { id, merge_request_iid, ...page }) => {
    const found = await findReadable(call, id, merge_request_iid);
    const request = pageRequest(page);
    const source = await sourceOf(call, found);
    if (source === null) return { items: [], total: 0 };
    const { items, total } = await listOfRequest(call.db, source.id, found.merge_request, request);
    return { items: items.map((row) => pipelineJson(row, source, call)), total };
  },
});

const create = endpoint({
  method: 'POST',
  ...shared,
  summary: "Make a pipeline of a merge request's head",
  params: object(one),
  reply: singlePipelineShape,
  handle: async (call, { id, merge_request_iid }) => {
    const found = await findReadable(call, id, merge_request_iid);
    const source = await sourceOf(call, found);
    if (source === null || !may(call.viewer, 'create_pipeline', source)) throw forbidden();
    const wanted = { user_id: userOf(call).id, skippable: false, since: null };
    const created = await createForRequest(call.platform, found, wanted);
    if ('refused' in created) throw invalid({ base: [created.refused] });
    return await singlePipelineJson(call, created.pipeline, source);
  },
});

export const pipelinesOfRequest = [list, create];
