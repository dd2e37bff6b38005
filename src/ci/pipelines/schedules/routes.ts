/** Endpoints of pipeline schedules. */
import type { Static } from 'typebox';
import { type Call, requireUser } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { invalid } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import {
  boolean,
  id,
  longText,
  object,
  oneOf,
  optional,
  raw,
  string,
  text,
} from '../../../platform/http/schema.ts';
import { findProjectFor } from '../../../projects/projects/find.ts';
import { projectParam } from '../../../code/repository/find_code.ts';
import { pipelineJson, pipelineShape } from '../json.ts';
import { playSchedule } from './run_schedule.ts';
import {
  scheduleShape,
  scheduleVariableJson,
  scheduleVariableShape,
  schedulesJson,
  singleScheduleJson,
  singleScheduleShape,
} from './json.ts';
import { findSchedule, listSchedulePipelines, listSchedules } from './queries.ts';
import { findScheduleToChange, canEditSchedule, canTakeOverSchedule, requireRunnableRef } from './rights.ts';
import { addScheduleVariable, editScheduleVariable, removeScheduleVariable } from './variables.ts';
import {
  type ScheduleEdit,
  createSchedule,
  deleteSchedule,
  takeOverSchedule,
  updateSchedule,
} from './change_schedules.ts';

const area = 'pipeline schedules';
const path = '/projects/:id/pipeline_schedules';
const project = { id: projectParam };
const scheduleParams = { ...project, pipeline_schedule_id: id() };
const shared = { area, audience: 'user' } as const;

const list = endpoint({
  method: 'GET',
  path,
  summary: 'List pipeline schedules of a project',
  ...shared,
  list: true,
  params: object({ ...project, scope: optional(oneOf(['active', 'inactive'])), ...pageParams }),
  reply: scheduleShape,
  handle: async (call, params) => {
    const owner = await findProjectFor(call, params.id, 'read_pipeline');
    const { items, total } = await listSchedules(call.db, owner.id, params.scope, pageRequest(params));
    return { items: await schedulesJson(call, items), total };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_schedule_id`,
  summary: 'Get a schedule, with its variables for its owner',
  ...shared,
  params: object(scheduleParams),
  reply: singleScheduleShape,
  handle: async (call, params) => {
    const owner = await findProjectFor(call, params.id, 'read_pipeline');
    const schedule = await findSchedule(call.db, owner.id, params.pipeline_schedule_id);
    return await singleScheduleJson(call, owner, schedule);
  },
});

const cron = text({ description: 'five fields: minute, hour, day, month, weekday' });
const ref = text({ maxLength: 1000, description: 'name of the branch or tag' });
const inputs = raw('array of `{ name, value }`; `{ name, destroy: true }` removes one');
const zone = text({ description: 'time zone of `cron`; default: UTC' });

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Create a schedule (developers)',
  ...shared,
  params: object({
    ...project,
    description: text(),
    ref,
    cron,
    cron_timezone: optional(zone),
    active: optional(boolean()),
    inputs: optional(inputs),
  }),
  reply: singleScheduleShape,
  handle: async (call, { id: projectId, cron_timezone = 'UTC', active = true, ...params }) => {
    const owner = await findProjectFor(call, projectId, 'admin_schedule');
    const values = { ...params, cron_timezone, active: toFlag(active) };
    return await singleScheduleJson(call, owner, await createSchedule(call, owner, values));
  },
});

const edits = object({
  description: optional(text()),
  ref: optional(ref),
  cron: optional(cron),
  cron_timezone: optional(zone),
  active: optional(boolean()),
  inputs: optional(inputs),
});

const toEdit = ({ active, ...edit }: Static<typeof edits>): ScheduleEdit => ({
  ...edit,
  ...(active !== undefined && { active: toFlag(active) }),
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:pipeline_schedule_id`,
  summary: 'Update a schedule (its owner)',
  ...shared,
  params: object({ ...scheduleParams, ...edits.properties }),
  reply: singleScheduleShape,
  handle: async (call, { id: projectId, pipeline_schedule_id, ...edit }) => {
    const loaded = await findScheduleToChange(call, { id: projectId, pipeline_schedule_id }, canEditSchedule);
    const schedule = await updateSchedule(call, loaded.project, loaded.schedule, toEdit(edit));
    return await singleScheduleJson(call, loaded.project, schedule);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:pipeline_schedule_id`,
  summary: 'Delete a schedule (its owner, maintainers)',
  ...shared,
  params: object(scheduleParams),
  reply: null,
  handle: async (call, params) =>
    await deleteSchedule(call, (await findScheduleToChange(call, params, canTakeOverSchedule)).schedule),
});

const pipelines = endpoint({
  method: 'GET',
  path: `${path}/:pipeline_schedule_id/pipelines`,
  summary: 'List the pipelines that a schedule created',
  ...shared,
  list: true,
  params: object({ ...scheduleParams, sort: oneOf(['asc', 'desc'], { default: 'asc' }), ...pageParams }),
  reply: pipelineShape,
  handle: async (call, { id: projectId, pipeline_schedule_id, ...params }) => {
    const owner = await findProjectFor(call, projectId, 'read_pipeline');
    const { id: schedule } = await findSchedule(call.db, owner.id, pipeline_schedule_id);
    const { items, total } = await listSchedulePipelines(call.db, schedule, params.sort, pageRequest(params));
    return { items: items.map((row) => pipelineJson(row, owner, call)), total };
  },
});

const takeOwnership = endpoint({
  method: 'POST',
  path: `${path}/:pipeline_schedule_id/take_ownership`,
  summary: 'Take ownership of a schedule (maintainers)',
  ...shared,
  params: object(scheduleParams),
  reply: singleScheduleShape,
  handle: async (call, params) => {
    const loaded = await findScheduleToChange(call, params, canTakeOverSchedule);
    return await singleScheduleJson(call, loaded.project, await takeOverSchedule(call, loaded.schedule));
  },
});

const play = endpoint({
  method: 'POST',
  path: `${path}/:pipeline_schedule_id/play`,
  summary: 'Run a schedule now (developers)',
  ...shared,
  params: object(scheduleParams),
  reply: object({ message: string }),
  handle: async (call, params) => {
    const loaded = await findScheduleToChange(call, params, () => true);
    await requireRunnableRef(call, loaded.project, loaded.schedule.ref);
    const pipelines = await playSchedule(
      call.platform,
      loaded.project,
      loaded.schedule,
      requireUser(call).id,
    );
    if ('refused' in pipelines) throw invalid({ base: [pipelines.refused] });
    return { message: '201 Created' };
  },
});

const variableParams = {
  variable_type: optional(oneOf(['env_var', 'file'])),
  raw: optional(boolean({ description: 'do not expand `$` references' })),
};
const key = text({ description: 'letters, digits and underscores' });

const addVariable = endpoint({
  method: 'POST',
  path: `${path}/:pipeline_schedule_id/variables`,
  summary: 'Create a variable of a schedule (its owner)',
  ...shared,
  params: object({ ...scheduleParams, key, value: longText(), ...variableParams }),
  reply: scheduleVariableShape,
  handle: async (call, { id: projectId, pipeline_schedule_id, ...params }) => {
    const { schedule } = await findScheduleToChange(
      call,
      { id: projectId, pipeline_schedule_id },
      canEditSchedule,
    );
    const { variable_type = 'env_var', raw = false, ...rest } = params;
    return scheduleVariableJson(await addScheduleVariable(call, schedule, { ...rest, variable_type, raw }));
  },
});

const findEditableSchedule = async (
  call: Call,
  input: { id: number | string; pipeline_schedule_id: number },
) => (await findScheduleToChange(call, input, canEditSchedule)).schedule;

const editVariable = endpoint({
  method: 'PUT',
  path: `${path}/:pipeline_schedule_id/variables/:key`,
  summary: 'Update a variable of a schedule (its owner)',
  ...shared,
  params: object({ ...scheduleParams, key, value: optional(longText()), ...variableParams }),
  reply: scheduleVariableShape,
  handle: async (call, { id: projectId, pipeline_schedule_id, ...edit }) => {
    const schedule = await findEditableSchedule(call, { id: projectId, pipeline_schedule_id });
    return scheduleVariableJson(await editScheduleVariable(call, schedule, edit));
  },
});

const removeVariable = endpoint({
  method: 'DELETE',
  path: `${path}/:pipeline_schedule_id/variables/:key`,
  summary: 'Delete a variable of a schedule (its owner)',
  ...shared,
  status: 202,
  params: object({ ...scheduleParams, key }),
  reply: scheduleVariableShape,
  handle: async (call, params) =>
    scheduleVariableJson(
      await removeScheduleVariable(call, await findEditableSchedule(call, params), params.key),
    ),
});

export const scheduleRoutes = [
  list,
  get,
  create,
  update,
  remove,
  pipelines,
  takeOwnership,
  play,
  addVariable,
  editVariable,
  removeVariable,
];
