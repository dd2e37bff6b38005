/**
 * Endpoints of runners for users. For endpoints of a project or group, see `owner_routes.ts`; of runner programs,
 * `program_routes.ts`.
 */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { forbidden, missingAttribute } from '../../platform/errors.ts';
import { findGroupFor } from '../../identity/groups/find.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { id, object, oneOf, optional, text } from '../../platform/http/schema.ts';
import { scopes as jobStatuses } from '../jobs/list_jobs.ts';
import { findProjectFor } from '../../projects/projects/find.ts';
import { deleteRunner, resetToken, updateRunner } from './update_and_delete.ts';
import { type RunnerOwner, createRunner } from './registration/create.ts';
import { listRunnerJobs, runnerJobShape } from './lists/runner_jobs.ts';
import {
  noExpiry,
  createdShape,
  loadRunnerDetails,
  runnerDetailsShape,
  runnerShape,
  tokenShape,
} from './json.ts';
import { listParams, listRunnerPage } from './lists/runner_page.ts';
import { listManagers, managerJson, managerShape } from './managers.ts';
import { factParams, readFacts } from './params.ts';
import { findRunner } from './lists/queries.ts';
import { ownRunners } from './access_conditions.ts';
import { runnerTypes } from './rules.ts';

const area = 'runners';
const runnerParams = { id: id() };

const own = endpoint({
  method: 'GET',
  path: '/runners',
  summary: 'List runners of the projects and groups that you manage',
  area,
  audience: 'user',
  list: true,
  params: object(listParams),
  reply: runnerShape,
  handle: async (call, params) => {
    const which = ownRunners(call.viewer, call.platform.store.dialect);
    return await listRunnerPage(call, which, params);
  },
});

const listAll = endpoint({
  method: 'GET',
  path: '/runners/all',
  summary: 'List all runners (administrators)',
  area,
  audience: 'admin',
  list: true,
  params: object(listParams),
  reply: runnerShape,
  handle: async (call, params) => await listRunnerPage(call, sql<boolean>`1 = 1`, params),
});

const get = endpoint({
  method: 'GET',
  path: '/runners/:id',
  summary: 'Get a runner',
  area,
  audience: 'user',
  params: object(runnerParams),
  reply: runnerDetailsShape,
  handle: async (call, params) => await loadRunnerDetails(call, await findRunner(call, params.id, 'see')),
});

const update = endpoint({
  method: 'PUT',
  path: '/runners/:id',
  summary: 'Update a runner',
  area,
  audience: 'user',
  params: object({ ...runnerParams, ...factParams }),
  reply: runnerDetailsShape,
  handle: async (call, params) =>
    await loadRunnerDetails(call, await updateRunner(call, params.id, readFacts(params))),
});

const remove = endpoint({
  method: 'DELETE',
  path: '/runners/:id',
  summary: 'Delete a runner',
  area,
  audience: 'user',
  params: object(runnerParams),
  reply: null,
  handle: async (call, params) => await deleteRunner(call, params.id),
});

const jobs = endpoint({
  method: 'GET',
  path: '/runners/:id/jobs',
  summary: 'List the jobs of a runner in the projects that you manage, newest first',
  area,
  audience: 'user',
  list: true,
  params: object({
    ...runnerParams,
    status: optional(oneOf(jobStatuses)),
    system_id: optional(text({ description: 'name of the machine' })),
    order_by: optional(oneOf(['id'])),
    sort: oneOf(['asc', 'desc'], { default: 'desc' }),
    ...pageParams,
  }),
  reply: runnerJobShape,
  handle: async (call, { id: runnerId, status, system_id, sort, ...page }) => {
    await findRunner(call, runnerId, 'manage');
    return await listRunnerJobs(call, runnerId, { status, system_id, sort }, pageRequest(page));
  },
});

const managers = endpoint({
  method: 'GET',
  path: '/runners/:id/managers',
  summary: 'List the machines that share the token of a runner',
  area,
  audience: 'user',
  list: true,
  params: object({ ...runnerParams, ...pageParams }),
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
  summary: 'Reset the token of a runner',
  area,
  audience: 'user',
  params: object(runnerParams),
  reply: tokenShape,
  handle: async (call, params) => ({ token: await resetToken(call, params.id), ...noExpiry }),
});

/** @throws Failure 400, 404, 403 */
const readOwner = async (
  call: Call,
  input: { runner_type: (typeof runnerTypes)[number]; group_id?: number; project_id?: number },
): Promise<RunnerOwner> => {
  const { runner_type, group_id, project_id } = input;
  if (runner_type === 'instance_type') {
    if (!call.admin) throw forbidden();
    return { runner_type };
  }
  if (runner_type === 'group_type') {
    if (group_id === undefined) throw missingAttribute('group_id');
    return { runner_type, group_id: (await findGroupFor(call, group_id, 'admin_group_runner')).id };
  }
  if (project_id === undefined) throw missingAttribute('project_id');
  return { runner_type, project_id: (await findProjectFor(call, project_id, 'admin_runner')).id };
};

const create = endpoint({
  method: 'POST',
  path: '/user/runners',
  summary: 'Create a runner of the instance (administrators), a group (owners) or a project (maintainers)',
  area,
  audience: 'user',
  scopes: ['create_runner'],
  params: object({
    runner_type: oneOf(runnerTypes),
    group_id: optional(id()),
    project_id: optional(id()),
    ...factParams,
  }),
  reply: createdShape,
  handle: async (call, params) => {
    const owner = await readOwner(call, params);
    return { ...(await createRunner(call, owner, readFacts(params))), ...noExpiry };
  },
});

export const runnerRoutes = [own, listAll, get, update, remove, jobs, managers, reset, create];
