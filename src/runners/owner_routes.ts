/** The runners of a project and of a group, and the tokens that register them. */
import { endpoint } from '../access/call.ts';
import { findGroupFor } from '../groups/find.ts';
import { id, idOrPath, object } from '../http/schema.ts';
import { findProjectFor } from '../projects/find.ts';
import { lasting, runnerJson, runnerShape, tokenShape } from './json.ts';
import { listParams, runnerPage } from './lists.ts';
import { disableRunner, enableRunner } from './projects.ts';
import { runnersForGroup, runnersForProject } from './queries.ts';
import { resetRegistrationToken } from './registration.ts';

const area = 'runners';
const ofProject = { id: idOrPath('project') };
const ofGroup = { id: idOrPath('group') };

const projectRunners = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/runners',
    summary: 'Runners that may take the jobs of a project',
    area,
    audience: 'user',
    list: true,
    params: object({ ...ofProject, ...listParams }),
    reply: runnerShape,
    handle: async (call, given) => {
      const which = runnersForProject(await findProjectFor(call, given.id, 'admin_runner'));
      return await runnerPage(call, which, given);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/runners',
    summary: 'Let a runner of your projects into another',
    area,
    audience: 'user',
    params: object({ ...ofProject, runner_id: id() }),
    reply: runnerShape,
    handle: async (call, given) => {
      const project = await findProjectFor(call, given.id, 'admin_runner');
      return runnerJson(await enableRunner(call, project.id, given.runner_id), call.now);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/projects/:id/runners/:runner_id',
    summary: 'Take a runner out of a project that is not its only one',
    area,
    audience: 'user',
    params: object({ ...ofProject, runner_id: id() }),
    reply: null,
    handle: async (call, given) => {
      const project = await findProjectFor(call, given.id, 'admin_runner');
      await disableRunner(call, project.id, given.runner_id);
    },
  }),
];

const groupRunners = endpoint({
  method: 'GET',
  path: '/groups/:id/runners',
  summary: 'Runners that may take the jobs of all projects of a group',
  area,
  audience: 'user',
  list: true,
  params: object({ ...ofGroup, ...listParams }),
  reply: runnerShape,
  handle: async (call, given) => {
    const which = runnersForGroup(await findGroupFor(call, given.id, 'admin_group_runner'));
    return await runnerPage(call, which, given);
  },
});

const registrationTokens = [
  endpoint({
    method: 'POST',
    path: '/runners/reset_registration_token',
    summary: 'A new token that registers runners of the instance (administrators)',
    area,
    audience: 'admin',
    params: object({}),
    reply: tokenShape,
    handle: async (call) => ({
      token: await resetRegistrationToken(call, { runner_type: 'instance_type' }),
      ...lasting,
    }),
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/runners/reset_registration_token',
    summary: 'A new token that registers runners of a project (masters)',
    area,
    audience: 'user',
    params: object(ofProject),
    reply: tokenShape,
    handle: async (call, given) => {
      const { id: project_id } = await findProjectFor(call, given.id, 'admin_runner');
      const owner = { runner_type: 'project_type', project_id } as const;
      return { token: await resetRegistrationToken(call, owner), ...lasting };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/groups/:id/runners/reset_registration_token',
    summary: 'A new token that registers runners of a group (owners)',
    area,
    audience: 'user',
    params: object(ofGroup),
    reply: tokenShape,
    handle: async (call, given) => {
      const { id: group_id } = await findGroupFor(call, given.id, 'admin_group_runner');
      const owner = { runner_type: 'group_type', group_id } as const;
      return { token: await resetRegistrationToken(call, owner), ...lasting };
    },
  }),
];

export const runnerOwnerRoutes = [...projectRunners, groupRunners, ...registrationTokens];
