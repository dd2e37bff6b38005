/** Pipelines of a project. Their jobs: `jobs/`. */
import { type Call, endpoint } from '../access/call.ts';
import { may } from '../access/may.ts';
import { forbidden, notFound } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { boolean, id as idParam, object, oneOf, optional, raw, text, time } from '../http/schema.ts';
import { findCode, projectParam } from '../repository/code.ts';
import { singlePipelineJson, singlePipelineShape } from '../repository/pipeline_single.ts';
import { cancel, remove, rename, retry } from './act.ts';
import { createFor } from './create_for.ts';
import { type FoundPipeline, findPipeline } from './find.ts';
import { findPipelineToChange } from './find_to_change.ts';
import { inputsParam } from './given_inputs.ts';
import { givenTo } from './given_variables.ts';
import { pipelineJson, pipelineShape, pipelineVariableJson, pipelineVariableShape } from './json.ts';
import { latestPipeline, listPipelines, orders, scopes, sources, statuses } from './list.ts';
import { namedRef } from './named_ref.ts';
import { pipelinesOfRequest } from './request_routes.ts';
import { statusPost } from './status_routes.ts';

const area = 'pipelines';
const audience = 'user';
const project = { id: projectParam };
const one = { ...project, pipeline_id: idParam() };
const path = '/projects/:id/pipelines';
const longestRef = 1000;
const refText = (description: string) => text({ maxLength: longestRef, description });

const list = endpoint({
  method: 'GET',
  path,
  summary: 'Pipelines of a project, the newest first',
  area,
  audience,
  list: true,
  params: object({
    ...project,
    scope: optional(oneOf(scopes, { description: '`branches`, `tags`: the newest of each' })),
    status: optional(oneOf(statuses)),
    source: optional(oneOf(sources)),
    ref: optional(refText('branch or tag')),
    sha: optional(text()),
    name: optional(text()),
    yaml_errors: optional(boolean({ description: 'whether its configuration has faults' })),
    username: optional(text({ description: 'of who made it' })),
    updated_after: optional(time()),
    updated_before: optional(time()),
    created_after: optional(time()),
    created_before: optional(time()),
    order_by: oneOf(orders, { default: 'id' }),
    sort: oneOf(['asc', 'desc'], { default: 'desc' }),
    ...pageParams,
  }),
  reply: pipelineShape,
  handle: async (call, { id, ...given }) => {
    const { project: found } = await findCode(call, id, 'read_pipeline');
    const { items, total } = await listPipelines(call.db, found.id, given, pageRequest(given));
    return { items: items.map((row) => pipelineJson(row, found, call)), total };
  },
});

const answer = async (call: Call, { pipeline, project: found }: FoundPipeline) =>
  await singlePipelineJson(call, pipeline, found);

const latest = endpoint({
  method: 'GET',
  path: `${path}/latest`,
  summary: 'The newest pipeline of the last commit of a branch or tag',
  area,
  audience,
  params: object({ ...project, ref: optional(refText('default: the default branch')) }),
  reply: singlePipelineShape,
  handle: async (call, { id, ref }) => {
    const { project: found, repository } = await findCode(call, id, 'read_pipeline');
    const named = await namedRef(repository, ref ?? found.default_branch ?? '');
    if (named === null) throw notFound();
    const { name, type } = named.ref;
    const asked = { ref: name, sha: named.sha, tag: type === 'tag' ? 1 : 0 } as const;
    const pipeline = await latestPipeline(call.db, found.id, asked);
    if (pipeline === null) throw notFound();
    return await answer(call, { pipeline, project: found });
  },
});

const show = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_id`,
  summary: 'One pipeline',
  area,
  audience,
  params: object(one),
  reply: singlePipelineShape,
  handle: async (call, { id, pipeline_id }) => await answer(call, await findPipeline(call, id, pipeline_id)),
});

/** Masters may know what a pipeline was given, and who made it. */
const mayKnowVariables = ({ viewer }: Call, { project: found, pipeline }: FoundPipeline): boolean =>
  may(viewer, 'admin_variable', found) ||
  (may(viewer, 'create_pipeline', found) && pipeline.user_id === viewer.user_id);

const variables = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_id/variables`,
  summary: 'The variables that a pipeline was made with',
  area,
  audience,
  list: true,
  params: object({ ...one, ...pageParams }),
  reply: pipelineVariableShape,
  handle: async (call, { id, pipeline_id, ...page }) => {
    const found = await findPipeline(call, id, pipeline_id);
    if (!mayKnowVariables(call, found)) throw forbidden();
    const all = await givenTo(call.platform, call.db, found.pipeline.id);
    const { limit, offset } = pageRequest(page);
    return { items: all.slice(offset, offset + limit).map(pipelineVariableJson), total: all.length };
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/pipeline',
  summary: 'Make a pipeline of a branch or tag',
  area,
  audience,
  params: object({
    ...project,
    ref: refText('branch or tag'),
    variables: optional(raw('array of `{ key, value, variable_type }`')),
    inputs: optional(inputsParam),
  }),
  reply: singlePipelineShape,
  handle: async (call, { id, ref, variables: given, inputs }) => {
    const code = await findCode(call, id, 'create_pipeline');
    return await answer(call, await createFor(call, code, { ref, variables: given, inputs, source: 'api' }));
  },
});

const acting = (verb: 'cancel' | 'retry', summary: string, act: typeof cancel) =>
  endpoint({
    method: 'POST',
    path: `${path}/:pipeline_id/${verb}`,
    summary,
    area,
    audience,
    params: object(one),
    reply: singlePipelineShape,
    handle: async (call, { id, pipeline_id }) => {
      const found = await findPipelineToChange(call, id, pipeline_id);
      return await answer(call, { ...found, pipeline: await act(call, found) });
    },
  });

const setMetadata = endpoint({
  method: 'PUT',
  path: `${path}/:pipeline_id/metadata`,
  summary: "Change a pipeline's name",
  area,
  audience,
  params: object({ ...one, name: text() }),
  reply: singlePipelineShape,
  handle: async (call, { id, pipeline_id, name }) => {
    const found = await findPipelineToChange(call, id, pipeline_id);
    return await answer(call, { ...found, pipeline: await rename(call, found, name) });
  },
});

const destroy = endpoint({
  method: 'DELETE',
  path: `${path}/:pipeline_id`,
  summary: 'Delete a pipeline with its jobs',
  area,
  audience,
  params: object(one),
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
  acting('cancel', 'Cancel the jobs of a pipeline', cancel),
  acting('retry', 'Run the jobs again that failed or were cancelled', retry),
  setMetadata,
  destroy,
  statusPost,
  ...pipelinesOfRequest,
];
