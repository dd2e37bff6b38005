/** Schedules: pipelines that come by themselves. */
import type { Static } from 'typebox';
import { type Call, endpoint, userOf } from '../access/call.ts';
import { invalid } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { boolean, id, longText, object, oneOf, optional, string, text } from '../http/schema.ts';
import { findProjectFor } from '../projects/find.ts';
import { projectParam } from '../repository/code.ts';
import { pipelineJson, pipelineShape } from './json.ts';
import { playSchedule } from './run_schedule.ts';
import {
  scheduleShape,
  scheduleVariableJson,
  scheduleVariableShape,
  schedulesJson,
  singleScheduleJson,
  singleScheduleShape,
} from './schedule_json.ts';
import { findSchedule, listOfSchedule, listSchedules } from './schedule_queries.ts';
import { findScheduleTo, mayEdit, mayTakeOver, requireRef } from './schedule_rights.ts';
import { addScheduleVariable, editScheduleVariable, removeScheduleVariable } from './schedule_variables.ts';
import { type ScheduleEdit, createSchedule, deleteSchedule, takeOver, updateSchedule } from './schedules.ts';

const area = 'pipeline schedules';
const path = '/projects/:id/pipeline_schedules';
const project = { id: projectParam };
const one = { ...project, pipeline_schedule_id: id() };
const shared = { area, audience: 'user' } as const;

const list = endpoint({
  method: 'GET',
  path,
  summary: 'Schedules of a project',
  ...shared,
  list: true,
  params: object({ ...project, scope: optional(oneOf(['active', 'inactive'])), ...pageParams }),
  reply: scheduleShape,
  handle: async (call, given) => {
    const owner = await findProjectFor(call, given.id, 'read_pipeline');
    const { items, total } = await listSchedules(call.db, owner.id, given.scope, pageRequest(given));
    return { items: await schedulesJson(call, items), total };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_schedule_id`,
  summary: 'One schedule; with its variables for its owner',
  ...shared,
  params: object(one),
  reply: singleScheduleShape,
  handle: async (call, given) => {
    const owner = await findProjectFor(call, given.id, 'read_pipeline');
    const schedule = await findSchedule(call.db, owner.id, given.pipeline_schedule_id);
    return await singleScheduleJson(call, owner, schedule);
  },
});

const cron = text({ description: 'five fields: minute, hour, day, month, weekday' });
const ref = text({ maxLength: 1000, description: 'name of the branch or tag' });
const zone = text({ description: 'in which the hours of `cron` are; default: UTC' });

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Make a schedule (developers)',
  ...shared,
  params: object({
    ...project,
    description: text(),
    ref,
    cron,
    cron_timezone: optional(zone),
    active: optional(boolean()),
  }),
  reply: singleScheduleShape,
  handle: async (call, { id: projectId, cron_timezone = 'UTC', active = true, ...given }) => {
    const owner = await findProjectFor(call, projectId, 'admin_schedule');
    const values = { ...given, cron_timezone, active: active ? (1 as const) : (0 as const) };
    return await singleScheduleJson(call, owner, await createSchedule(call, owner, values));
  },
});

const edits = object({
  description: optional(text()),
  ref: optional(ref),
  cron: optional(cron),
  cron_timezone: optional(zone),
  active: optional(boolean()),
});

const editOf = ({ active, ...edit }: Static<typeof edits>): ScheduleEdit => ({
  ...edit,
  ...(active !== undefined && { active: active ? 1 : 0 }),
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:pipeline_schedule_id`,
  summary: 'Edit a schedule (its owner)',
  ...shared,
  params: object({ ...one, ...edits.properties }),
  reply: singleScheduleShape,
  handle: async (call, { id: projectId, pipeline_schedule_id, ...edit }) => {
    const found = await findScheduleTo(call, { id: projectId, pipeline_schedule_id }, mayEdit);
    const schedule = await updateSchedule(call, found.project, found.schedule, editOf(edit));
    return await singleScheduleJson(call, found.project, schedule);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:pipeline_schedule_id`,
  summary: 'Delete a schedule (its owner, masters)',
  ...shared,
  params: object(one),
  reply: null,
  handle: async (call, given) =>
    await deleteSchedule(call, (await findScheduleTo(call, given, mayTakeOver)).schedule),
});

const made = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_schedule_id/pipelines`,
  summary: 'The pipelines that a schedule has made',
  ...shared,
  list: true,
  params: object({ ...one, sort: oneOf(['asc', 'desc'], { default: 'asc' }), ...pageParams }),
  reply: pipelineShape,
  handle: async (call, { id: projectId, pipeline_schedule_id, ...given }) => {
    const owner = await findProjectFor(call, projectId, 'read_pipeline');
    const { id: schedule } = await findSchedule(call.db, owner.id, pipeline_schedule_id);
    const { items, total } = await listOfSchedule(call.db, schedule, given.sort, pageRequest(given));
    return { items: items.map((row) => pipelineJson(row, owner, call)), total };
  },
});

const takeOwnership = endpoint({
  method: 'POST',
  path: `${path}/:pipeline_schedule_id/take_ownership`,
  summary: 'Have a schedule run with the rights of the caller (masters)',
  ...shared,
  params: object(one),
  reply: singleScheduleShape,
  handle: async (call, given) => {
    const found = await findScheduleTo(call, given, mayTakeOver);
    return await singleScheduleJson(call, found.project, await takeOver(call, found.schedule));
  },
});

const play = endpoint({
  method: 'POST',
  path: `${path}/:pipeline_schedule_id/play`,
  summary: 'Run a schedule now (developers)',
  ...shared,
  params: object(one),
  reply: object({ message: string }),
  handle: async (call, given) => {
    const found = await findScheduleTo(call, given, () => true);
    await requireRef(call, found.project, found.schedule.ref);
    const made = await playSchedule(call.platform, found.project, found.schedule, userOf(call).id);
    if ('refused' in made) throw invalid({ base: [made.refused] });
    return { message: '201 Created' };
  },
});

const variableParams = {
  variable_type: optional(oneOf(['env_var', 'file'])),
  raw: optional(boolean({ description: 'a `$` in it is nothing special' })),
};
const key = text({ description: 'letters, digits and underscores' });

const addVariable = endpoint({
  method: 'POST',
  path: `${path}/:pipeline_schedule_id/variables`,
  summary: 'Give a schedule a variable (its owner)',
  ...shared,
  params: object({ ...one, key, value: longText(), ...variableParams }),
  reply: scheduleVariableShape,
  handle: async (call, { id: projectId, pipeline_schedule_id, ...given }) => {
    const { schedule } = await findScheduleTo(call, { id: projectId, pipeline_schedule_id }, mayEdit);
    const { variable_type = 'env_var', raw = false, ...rest } = given;
    return scheduleVariableJson(await addScheduleVariable(call, schedule, { ...rest, variable_type, raw }));
  },
});

const ownVariable = async (call: Call, given: { id: number | string; pipeline_schedule_id: number }) =>
  (await findScheduleTo(call, given, mayEdit)).schedule;

const editVariable = endpoint({
  method: 'PUT',
  path: `${path}/:pipeline_schedule_id/variables/:key`,
  summary: 'Edit a variable of a schedule (its owner)',
  ...shared,
  params: object({ ...one, key, value: optional(longText()), ...variableParams }),
  reply: scheduleVariableShape,
  handle: async (call, { id: projectId, pipeline_schedule_id, ...edit }) => {
    const schedule = await ownVariable(call, { id: projectId, pipeline_schedule_id });
    return scheduleVariableJson(await editScheduleVariable(call, schedule, edit));
  },
});

const removeVariable = endpoint({
  method: 'DELETE',
  path: `${path}/:pipeline_schedule_id/variables/:key`,
  summary: 'Take a variable from a schedule (its owner)',
  ...shared,
  status: 202,
  params: object({ ...one, key }),
  reply: scheduleVariableShape,
  handle: async (call, given) =>
    scheduleVariableJson(await removeScheduleVariable(call, await ownVariable(call, given), given.key)),
});

export const scheduleRoutes = [
  list,
  get,
  create,
  update,
  remove,
  made,
  takeOwnership,
  play,
  addVariable,
  editVariable,
  removeVariable,
];
