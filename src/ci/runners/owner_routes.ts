/** Endpoints for the runners of a project or group, and their registration tokens. */
import { endpoint } from '../../core/access/endpoint.ts';
import { findGroupFor } from '../../identity/groups/find.ts';
import { id, idOrPath, object } from '../../platform/http/schema.ts';
import { findProjectFor } from '../../projects/projects/find.ts';
import { noExpiry, toRunnerJson, runnerShape, tokenShape } from './json.ts';
import { listParams, listRunnerPage } from './lists/runner_page.ts';
import { disableRunner, enableRunner } from './enable_in_projects.ts';
import { runnersForGroup, runnersForProject } from './lists/queries.ts';
import { resetRegistrationToken } from './registration/registration_tokens.ts';

const area = 'runners';
const ofProject = { id: idOrPath('project') };
const ofGroup = { id: idOrPath('group') };

const projectRunners = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/runners',
    summary: 'List runners that serve a project',
    area,
    audience: 'user',
    list: true,
    params: object({ ...ofProject, ...listParams }),
    reply: runnerShape,
    handle: async (call, params) => {
      const which = runnersForProject(await findProjectFor(call, params.id, 'admin_runner'));
      return await listRunnerPage(call, which, params);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/runners',
    summary: 'Enable a runner in a project',
    area,
    audience: 'user',
    params: object({ ...ofProject, runner_id: id() }),
    reply: runnerShape,
    handle: async (call, params) => {
      const project = await findProjectFor(call, params.id, 'admin_runner');
      return toRunnerJson(await enableRunner(call, project.id, params.runner_id), call.now);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/projects/:id/runners/:runner_id',
    summary: 'Disable a runner in a project',
    area,
    audience: 'user',
    params: object({ ...ofProject, runner_id: id() }),
    reply: null,
    handle: async (call, params) => {
      const project = await findProjectFor(call, params.id, 'admin_runner');
      await disableRunner(call, project.id, params.runner_id);
    },
  }),
];

const groupRunners = endpoint({
  method: 'GET',
  path: '/groups/:id/runners',
  summary: 'List runners that serve a group',
  area,
  audience: 'user',
  list: true,
  params: object({ ...ofGroup, ...listParams }),
  reply: runnerShape,
  handle: async (call, params) => {
    const which = runnersForGroup(await findGroupFor(call, params.id, 'admin_group_runner'));
    return await listRunnerPage(call, which, params);
  },
});

const registrationTokens = [
  endpoint({
    method: 'POST',
    path: '/runners/reset_registration_token',
    summary: 'Reset the registration token of the instance (administrators)',
    area,
    audience: 'admin',
    params: object({}),
    reply: tokenShape,
    handle: async (call) => ({
      token: await resetRegistrationToken(call, { runner_type: 'instance_type' }),
      ...noExpiry,
    }),
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/runners/reset_registration_token',
    summary: 'Reset the registration token of a project (maintainers)',
    area,
    audience: 'user',
    params: object(ofProject),
    reply: tokenShape,
    handle: async (call, params) => {
      const { id: project_id } = await findProjectFor(call, params.id, 'admin_runner');
      const owner = { runner_type: 'project_type', project_id } as const;
      return { token: await resetRegistrationToken(call, owner), ...noExpiry };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/groups/:id/runners/reset_registration_token',
    summary: 'Reset the registration token of a group (owners)',
    area,
    audience: 'user',
    params: object(ofGroup),
    reply: tokenShape,
    handle: async (call, params) => {
      const { id: group_id } = await findGroupFor(call, params.id, 'admin_group_runner');
      const owner = { runner_type: 'group_type', group_id } as const;
      return { token: await resetRegistrationToken(call, owner), ...noExpiry };
    },
  }),
];

export const runnerOwnerRoutes = [...projectRunners, groupRunners, ...registrationTokens];
