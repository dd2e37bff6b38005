/** Endpoints of triggers, and endpoints that start a pipeline with a trigger token. */
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { hash, id, object, optional, text } from '../../../platform/http/schema.ts';
import { findProjectFor } from '../../../projects/projects/find.ts';
import { projectParam } from '../../../code/repository/find_code.ts';
import { inputsParam } from '../creation/inputs.ts';
import {
  singlePipelineJson,
  singlePipelineShape,
} from '../../../code/repository/statuses/pipeline_detail.ts';
import { type TriggerRunInput, runTrigger } from './run_trigger.ts';
import { triggerShape, triggersJson } from './json.ts';
import {
  createTrigger,
  deleteTrigger,
  findTrigger,
  listTriggers,
  updateTrigger,
} from './find_and_change_triggers.ts';

const area = 'triggers';
const path = '/projects/:id/triggers';
const project = { id: projectParam };
const triggerParams = { ...project, trigger_id: id() };
const shared = { area, audience: 'user' } as const;

const findAdministeredProject = async (call: Call, projectId: number | string) =>
  await findProjectFor(call, projectId, 'admin_trigger');

const list = endpoint({
  method: 'GET',
  path,
  summary: 'List triggers of a project (maintainers)',
  ...shared,
  list: true,
  params: object({ ...project, ...pageParams }),
  reply: triggerShape,
  handle: async (call, params) => {
    const owner = await findAdministeredProject(call, params.id);
    const { items, total } = await listTriggers(call.db, owner.id, pageRequest(params));
    return { items: await triggersJson(call, items), total };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:trigger_id`,
  summary: 'Get a trigger, with its token for its owner (maintainers)',
  ...shared,
  params: object(triggerParams),
  reply: triggerShape,
  handle: async (call, params) => {
    const owner = await findAdministeredProject(call, params.id);
    return (await triggersJson(call, [await findTrigger(call.db, owner.id, params.trigger_id)]))[0];
  },
});

const description = text({ description: 'purpose of the trigger' });

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Create a trigger (maintainers)',
  ...shared,
  params: object({ ...project, description }),
  reply: triggerShape,
  handle: async (call, params) => {
    const owner = await findAdministeredProject(call, params.id);
    return (await triggersJson(call, [await createTrigger(call, owner, params.description)]))[0];
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:trigger_id`,
  summary: 'Update a trigger (its owner)',
  ...shared,
  params: object({ ...triggerParams, description: optional(description) }),
  reply: triggerShape,
  handle: async (call, params) => {
    const owner = await findAdministeredProject(call, params.id);
    const trigger = await updateTrigger(call, owner, params.trigger_id, params.description);
    return (await triggersJson(call, [trigger]))[0];
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:trigger_id`,
  summary: 'Delete a trigger and revoke its token (maintainers)',
  ...shared,
  params: object(triggerParams),
  reply: null,
  handle: async (call, params) =>
    await deleteTrigger(call, await findAdministeredProject(call, params.id), params.trigger_id),
});

const runParams = {
  ...project,
  token: text({ description: 'token of a trigger' }),
  ref: text({ maxLength: 1000, description: 'name of the branch or tag' }),
  variables: optional(hash({}, 'variables of the pipeline: values by name')),
  inputs: optional(inputsParam),
};

/** Authenticated only by the trigger token. */
const runEndpoint = (under: string) =>
  endpoint({
    method: 'POST',
    path: under,
    summary: 'Start a pipeline with a trigger token',
    area,
    audience: 'anyone',
    params: object(runParams),
    reply: singlePipelineShape,
    handle: async (call, params: TriggerRunInput) => {
      const { pipeline, project: owner } = await runTrigger(call, params);
      return await singlePipelineJson(call, pipeline, owner);
    },
  });

export const triggerRoutes = [
  list,
  get,
  create,
  update,
  remove,
  runEndpoint('/projects/:id/trigger/pipeline'),
  runEndpoint('/projects/:id/ref/:ref/trigger/pipeline'),
];
