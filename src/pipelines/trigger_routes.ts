/** Triggers, and the calls that they are for. */
import { type Call, endpoint } from '../access/call.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { hash, id, object, optional, text } from '../http/schema.ts';
import { findProjectFor } from '../projects/find.ts';
import { projectParam } from '../repository/code.ts';
import { inputsParam } from './given_inputs.ts';
import { singlePipelineJson, singlePipelineShape } from '../repository/pipeline_single.ts';
import { type Wanted, runTrigger } from './run_trigger.ts';
import { triggerShape, triggersJson } from './trigger_json.ts';
import { createTrigger, deleteTrigger, findTrigger, listTriggers, updateTrigger } from './triggers.ts';

const area = 'triggers';
const path = '/projects/:id/triggers';
const project = { id: projectParam };
const one = { ...project, trigger_id: id() };
const shared = { area, audience: 'user' } as const;

const administered = async (call: Call, projectId: number | string) =>
  await findProjectFor(call, projectId, 'admin_trigger');

const list = endpoint({
  method: 'GET',
  path,
  summary: 'Triggers of a project (masters)',
  ...shared,
  list: true,
  params: object({ ...project, ...pageParams }),
  reply: triggerShape,
  handle: async (call, given) => {
    const owner = await administered(call, given.id);
    const { items, total } = await listTriggers(call.db, owner.id, pageRequest(given));
    return { items: await triggersJson(call, items), total };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:trigger_id`,
  summary: 'One trigger (masters): its token is shown to its owner',
  ...shared,
  params: object(one),
  reply: triggerShape,
  handle: async (call, given) => {
    const owner = await administered(call, given.id);
    return (await triggersJson(call, [await findTrigger(call.db, owner.id, given.trigger_id)]))[0];
  },
});

const description = text({ description: 'what it is for' });

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Make a trigger (masters)',
  ...shared,
  params: object({ ...project, description }),
  reply: triggerShape,
  handle: async (call, given) => {
    const owner = await administered(call, given.id);
    return (await triggersJson(call, [await createTrigger(call, owner, given.description)]))[0];
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:trigger_id`,
  summary: 'Edit a trigger (its owner)',
  ...shared,
  params: object({ ...one, description: optional(description) }),
  reply: triggerShape,
  handle: async (call, given) => {
    const owner = await administered(call, given.id);
    const trigger = await updateTrigger(call, owner, given.trigger_id, given.description);
    return (await triggersJson(call, [trigger]))[0];
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:trigger_id`,
  summary: 'Delete a trigger (masters): its token starts nothing any more',
  ...shared,
  params: object(one),
  reply: null,
  handle: async (call, given) =>
    await deleteTrigger(call, await administered(call, given.id), given.trigger_id),
});

const wanted = {
  ...project,
  token: text({ description: 'of a trigger' }),
  ref: text({ maxLength: 1000, description: 'name of the branch or tag' }),
  variables: optional(hash({}, 'of the pipeline: names and their texts')),
  inputs: optional(inputsParam),
};

/** Whoever has the token is let in, so nobody signs in. */
const run = (under: string) =>
  endpoint({
    method: 'POST',
    path: under,
    summary: 'Start a pipeline by the token of a trigger',
    area,
    audience: 'anyone',
    params: object(wanted),
    reply: singlePipelineShape,
    handle: async (call, given: Wanted) => {
      const { pipeline, project: owner } = await runTrigger(call, given);
      return await singlePipelineJson(call, pipeline, owner);
    },
  });

export const triggerRoutes = [
  list,
  get,
  create,
  update,
  remove,
  run('/projects/:id/trigger/pipeline'),
  run('/projects/:id/ref/:ref/trigger/pipeline'),
];
