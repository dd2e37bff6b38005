/** Runners, for people; those of one project or group: `owner_routes.ts`; what their programs call: `program_routes.ts`. */
import { sql } from 'kysely';
import { type Call, endpoint } from '../access/call.ts';
import { forbidden, notGiven } from '../errors.ts';
import { findGroupFor } from '../groups/find.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { id, object, oneOf, optional, text } from '../http/schema.ts';
import { scopes as jobStatuses } from '../jobs/list.ts';
import { findProjectFor } from '../projects/find.ts';
import { deleteRunner, resetToken, updateRunner } from './change.ts';
import { type RunnerOwner, createRunner } from './create.ts';
import { listJobsOfRunner, runnerJobShape } from './jobs.ts';
import { lasting, madeShape, runnerDetails, runnerDetailsShape, runnerShape, tokenShape } from './json.ts';
import { listParams, runnerPage } from './lists.ts';
import { listManagers, managerJson, managerShape } from './managers.ts';
import { factParams, factsGiven } from './params.ts';
import { findRunner } from './queries.ts';
import { ownRunners } from './rights.ts';
import { runnerTypes } from './rules.ts';

const area = 'runners';
const one = { id: id() };

const own = endpoint({
  method: 'GET',
  path: '/runners',
  summary: 'Runners of the projects and groups that you manage',
  area,
  audience: 'user',
  list: true,
  params: object(listParams),
  reply: runnerShape,
  handle: async (call, given) => {
    const which = ownRunners(call.viewer, call.platform.store.words);
    return await runnerPage(call, which, given);
  },
});

const all = endpoint({
  method: 'GET',
  path: '/runners/all',
  summary: 'Every runner (administrators)',
  area,
  audience: 'admin',
  list: true,
  params: object(listParams),
  reply: runnerShape,
  handle: async (call, given) => await runnerPage(call, sql<boolean>`1 = 1`, given),
});

const get = endpoint({
  method: 'GET',
  path: '/runners/:id',
  summary: 'One runner',
  area,
  audience: 'user',
  params: object(one),
  reply: runnerDetailsShape,
  handle: async (call, given) => await runnerDetails(call, await findRunner(call, given.id, 'see')),
});

const update = endpoint({
  method: 'PUT',
  path: '/runners/:id',
  summary: 'Edit a runner',
  area,
  audience: 'user',
  params: object({ ...one, ...factParams }),
  reply: runnerDetailsShape,
  handle: async (call, given) =>
    await runnerDetails(call, await updateRunner(call, given.id, factsGiven(given))),
});

const remove = endpoint({
  method: 'DELETE',
  path: '/runners/:id',
  summary: 'Delete a runner',
  area,
  audience: 'user',
  params: object(one),
  reply: null,
  handle: async (call, given) => await deleteRunner(call, given.id),
});

const jobs = endpoint({
  method: 'GET',
  path: '/runners/:id/jobs',
  summary: 'What a runner has run in the projects that you manage, the newest first',
  area,
  audience: 'user',
  list: true,
  params: object({
    ...one,
    status: optional(oneOf(jobStatuses)),
    system_id: optional(text({ description: 'of the machine' })),
    order_by: optional(oneOf(['id'])),
    sort: oneOf(['asc', 'desc'], { default: 'desc' }),
    ...pageParams,
  }),
  reply: runnerJobShape,
  handle: async (call, { id: runnerId, status, system_id, sort, ...page }) => {
    await findRunner(call, runnerId, 'manage');
    return await listJobsOfRunner(call, runnerId, { status, system_id, sort }, pageRequest(page));
  },
});

const managers = endpoint({
  method: 'GET',
  path: '/runners/:id/managers',
  summary: 'The machines that share the token of a runner',
  area,
  audience: 'user',
  list: true,
  params: object({ ...one, ...pageParams }),
  reply: managerShape,
  handle: async (call, { id: runnerId, ...page }) => {
    await findRunner(call, runnerId, 'manage');
    const { items, total } = await listManagers(call.db, runnerId, pageRequest(page));
    return { items: items.map((manager) => managerJson(manager, call.now)), total };
  },
});

const reset = endpoint({
  method: 'POST',
  path: '/runners/:id/reset_authentication_token',
  summary: 'Give a runner another token: the one before is no longer good',
  area,
  audience: 'user',
  params: object(one),
  reply: tokenShape,
  handle: async (call, given) => ({ token: await resetToken(call, given.id), ...lasting }),
});

/** @throws Failure 400, 404, 403 */
const ownerGiven = async (
  call: Call,
  given: { runner_type: (typeof runnerTypes)[number]; group_id?: number; project_id?: number },
): Promise<RunnerOwner> => {
  const { runner_type, group_id, project_id } = given;
  if (runner_type === 'instance_type') {
    if (!call.admin) throw forbidden();
    return { runner_type };
  }
  if (runner_type === 'group_type') {
    if (group_id === undefined) throw notGiven('group_id');
    return { runner_type, group_id: (await findGroupFor(call, group_id, 'admin_group_runner')).id };
  }
  if (project_id === undefined) throw notGiven('project_id');
  return { runner_type, project_id: (await findProjectFor(call, project_id, 'admin_runner')).id };
};

const create = endpoint({
  method: 'POST',
  path: '/user/runners',
  summary: 'Make a runner of the instance (administrators), of a group (owners) or of a project (masters)',
  area,
  audience: 'user',
  scopes: ['create_runner'],
  params: object({
    runner_type: oneOf(runnerTypes),
    group_id: optional(id()),
    project_id: optional(id()),
    ...factParams,
  }),
  reply: madeShape,
  handle: async (call, given) => {
    const owner = await ownerGiven(call, given);
    return { ...(await createRunner(call, owner, factsGiven(given))), ...lasting };
  },
});

export const runnerRoutes = [own, all, get, update, remove, jobs, managers, reset, create];
