/** Endpoints of pipelines. Jobs are in `jobs/`. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { may } from '../../core/access/may.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  id as idParam,
  object,
  oneOf,
  optional,
  raw,
  text,
  time,
} from '../../platform/http/schema.ts';
import { findCode, projectParam } from '../../code/repository/find_code.ts';
import { singlePipelineJson, singlePipelineShape } from '../../code/repository/statuses/pipeline_detail.ts';
import { cancel, remove, rename, retry } from './user_actions.ts';
import { createPipelineForCaller } from './creation/create_on_request.ts';
import { type LoadedPipeline, findPipeline } from './find.ts';
import { findPipelineToChange } from './find_to_change.ts';
import { inputsParam } from './creation/inputs.ts';
import { loadPipelineVariables } from './creation/pipeline_variables.ts';
import { pipelineJson, pipelineShape, pipelineVariableJson, pipelineVariableShape } from './json.ts';
import { latestPipeline, listPipelines, orders, scopes, sources, statuses } from './list.ts';
import { resolveNamedRef } from './creation/named_ref.ts';
import { mergeRequestPipelineRoutes } from './creation/merge_request_routes.ts';
import { statusPost } from './statuses/status_report_route.ts';

const area = 'pipelines';
const audience = 'user';
const project = { id: projectParam };
const pipelineParams = { ...project, pipeline_id: idParam() };
const path = '/projects/:id/pipelines';
const maxRefLength = 1000;
const refText = (description: string) => text({ maxLength: maxRefLength, description });

const list = endpoint({
  method: 'GET',
  path,
  summary: 'List pipelines of a project, newest first',
  area,
  audience,
  list: true,
  params: object({
    ...project,
    scope: optional(
      oneOf(scopes, { description: '`branches`, `tags`: the newest pipeline of each branch or tag' }),
    ),
    status: optional(oneOf(statuses)),
    source: optional(oneOf(sources)),
    ref: optional(refText('branch or tag')),
    sha: optional(text()),
    name: optional(text()),
    yaml_errors: optional(boolean({ description: 'only with (or without) configuration errors' })),
    username: optional(text({ description: 'user name of the creator' })),
    updated_after: optional(time()),
    updated_before: optional(time()),
    created_after: optional(time()),
    created_before: optional(time()),
    order_by: oneOf(orders, { default: 'id' }),
    sort: oneOf(['asc', 'desc'], { default: 'desc' }),
    ...pageParams,
  }),
  reply: pipelineShape,
  handle: async (call, { id, ...rawVariables }) => {
    const { project: loaded } = await findCode(call, id, 'read_pipeline');
    const { items, total } = await listPipelines(call.db, loaded.id, rawVariables, pageRequest(rawVariables));
    return { items: items.map((row) => pipelineJson(row, loaded, call)), total };
  },
});

const toReply = async (call: Call, { pipeline, project: loaded }: LoadedPipeline) =>
  await singlePipelineJson(call, pipeline, loaded);

const latest = endpoint({
  method: 'GET',
  path: `${path}/latest`,
  summary: 'Get the latest pipeline of a branch or tag',
  area,
  audience,
  params: object({ ...project, ref: optional(refText('default: the default branch')) }),
  reply: singlePipelineShape,
  handle: async (call, { id, ref }) => {
    const { project: loaded, repository } = await findCode(call, id, 'read_pipeline');
    const namedRef = await resolveNamedRef(repository, ref ?? loaded.default_branch ?? '');
    if (namedRef === null) throw notFound();
    const { name, type } = namedRef.ref;
    const query = { ref: name, sha: namedRef.sha, tag: type === 'tag' ? 1 : 0 } as const;
    const pipeline = await latestPipeline(call.db, loaded.id, query);
    if (pipeline === null) throw notFound();
    return await toReply(call, { pipeline, project: loaded });
  },
});

const show = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_id`,
  summary: 'Get a pipeline',
  area,
  audience,
  params: object(pipelineParams),
  reply: singlePipelineShape,
  handle: async (call, { id, pipeline_id }) => await toReply(call, await findPipeline(call, id, pipeline_id)),
});

/** Masters and the pipeline's creator can read its variables. */
const canReadVariables = ({ viewer }: Call, { project: loaded, pipeline }: LoadedPipeline): boolean =>
  may(viewer, 'admin_variable', loaded) ||
  (may(viewer, 'create_pipeline', loaded) && pipeline.user_id === viewer.user_id);

const variables = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_id/variables`,
  summary: 'List the variables of a pipeline',
  area,
  audience,
  list: true,
  params: object({ ...pipelineParams, ...pageParams }),
  reply: pipelineVariableShape,
  handle: async (call, { id, pipeline_id, ...page }) => {
    const loaded = await findPipeline(call, id, pipeline_id);
    if (!canReadVariables(call, loaded)) throw forbidden();
    const variables = await loadPipelineVariables(call.platform, call.db, loaded.pipeline.id);
    const { limit, offset } = pageRequest(page);
    return {
      items: variables.slice(offset, offset + limit).map(pipelineVariableJson),
      total: variables.length,
    };
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/pipeline',
  summary: 'Create a pipeline for a branch or tag',
  area,
  audience,
  params: object({
    ...project,
    ref: refText('branch or tag'),
    variables: optional(raw('array of `{ key, value, variable_type }`')),
    inputs: optional(inputsParam),
  }),
  reply: singlePipelineShape,
  handle: async (call, { id, ref, variables: rawVariables, inputs }) => {
    const code = await findCode(call, id, 'create_pipeline');
    return await toReply(
      call,
      await createPipelineForCaller(call, code, { ref, variables: rawVariables, inputs, source: 'api' }),
    );
  },
});

const jobAction = (verb: 'cancel' | 'retry', summary: string, perform: typeof cancel) =>
  endpoint({
    method: 'POST',
    path: `${path}/:pipeline_id/${verb}`,
    summary,
    area,
    audience,
    params: object(pipelineParams),
    reply: singlePipelineShape,
    handle: async (call, { id, pipeline_id }) => {
      const loaded = await findPipelineToChange(call, id, pipeline_id);
      return await toReply(call, { ...loaded, pipeline: await perform(call, loaded) });
    },
  });

const setMetadata = endpoint({
  method: 'PUT',
  path: `${path}/:pipeline_id/metadata`,
  summary: "Update a pipeline's name",
  area,
  audience,
  params: object({ ...pipelineParams, name: text() }),
  reply: singlePipelineShape,
  handle: async (call, { id, pipeline_id, name }) => {
    const loaded = await findPipelineToChange(call, id, pipeline_id);
    return await toReply(call, { ...loaded, pipeline: await rename(call, loaded, name) });
  },
});

const destroy = endpoint({
  method: 'DELETE',
  path: `${path}/:pipeline_id`,
  summary: 'Delete a pipeline with its jobs',
  area,
  audience,
  params: object(pipelineParams),
  reply: null,
  handle: async (call, { id, pipeline_id }) =>
    await remove(call, await findPipeline(call, id, pipeline_id, 'destroy_pipeline')),
});

export const pipelineRoutes = [
  list,
  latest,
  show,
  variables,
  create,
  jobAction('cancel', 'Cancel the jobs of a pipeline', cancel),
  jobAction('retry', 'Retry the failed and canceled jobs of a pipeline', retry),
  setMetadata,
  destroy,
  statusPost,
  ...mergeRequestPipelineRoutes,
];
