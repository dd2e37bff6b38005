/** Endpoints of environments, to which the jobs of a project deploy. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  clearable,
  id,
  longText,
  object,
  oneOf,
  optional,
  text,
} from '../../platform/http/schema.ts';
import { findProjectFor } from '../../projects/projects/find.ts';
import { projectParam } from '../../code/repository/find_code.ts';
import { createEnvironment, deleteEnvironment, updateEnvironment } from './create_update_delete.ts';
import { deploymentRoutes } from './deployments/routes.ts';
import { type LoadJobsById, deploymentsJson, environmentJson, environmentShape } from './json.ts';
import { findEnvironment, loadLastDeployment, loadLastDeployments, listEnvironments } from './queries.ts';
import { tiers } from './slug_and_tier.ts';
import { type JobRunner, stopEnvironment } from './stop_environment.ts';

const area = 'environments';
const path = '/projects/:id/environments';
const project = { id: projectParam };
const environmentParams = { ...project, environment_id: id() };

const edits = {
  external_url: optional(clearable(text({ description: 'http(s) URL of the environment' }))),
  tier: optional(oneOf(tiers)),
  description: optional(clearable(longText())),
};

const list = (loadJobs: LoadJobsById) =>
  endpoint({
    method: 'GET',
    path,
    summary: 'List environments of a project',
    area,
    audience: 'user',
    list: true,
    params: object({
      ...project,
      name: optional(text({ description: 'exact name' })),
      search: optional(text({ description: 'part of the name' })),
      states: optional(oneOf(['available', 'stopping', 'stopped'])),
      ...pageParams,
    }),
    reply: environmentShape,
    handle: async (call, params) => {
      const owner = await findProjectFor(call, params.id, 'read_environment');
      const { items, total } = await listEnvironments(call.db, owner.id, params, pageRequest(params));
      const rows = await loadLastDeployments(
        call.db,
        items.map((row) => row.id),
      );
      const deployments = await deploymentsJson(call, owner, rows, loadJobs);
      const byEnvironment = new Map(rows.map((row, at) => [row.environment_id, deployments[at]]));
      return {
        items: items.map((row) => ({
          ...environmentJson(row),
          last_deployment: byEnvironment.get(row.id) ?? null,
        })),
        total,
      };
    },
  });

const get = (loadJobs: LoadJobsById) =>
  endpoint({
    method: 'GET',
    path: `${path}/:environment_id`,
    summary: 'Get an environment with its last deployment',
    area,
    audience: 'user',
    params: object(environmentParams),
    reply: environmentShape,
    handle: async (call, params) => {
      const owner = await findProjectFor(call, params.id, 'read_environment');
      const row = await findEnvironment(call.db, owner.id, params.environment_id);
      const newest = await loadLastDeployment(call.db, row.id);
      const deployments = await deploymentsJson(call, owner, newest === null ? [] : [newest], loadJobs);
      return { ...environmentJson(row), last_deployment: deployments[0] ?? null };
    },
  });

const findAdministeredProject = async (call: Call, projectId: number | string) =>
  await findProjectFor(call, projectId, 'admin_environment');

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Create an environment (developers)',
  area,
  audience: 'user',
  params: object({ ...project, name: text(), ...edits }),
  reply: environmentShape,
  handle: async (call, { id: projectId, ...params }) => {
    const owner = await findAdministeredProject(call, projectId);
    return environmentJson(await createEnvironment(call, owner, params));
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:environment_id`,
  summary: 'Update an environment (developers)',
  area,
  audience: 'user',
  params: object({ ...environmentParams, ...edits }),
  reply: environmentShape,
  handle: async (call, { id: projectId, environment_id, ...edit }) => {
    const owner = await findAdministeredProject(call, projectId);
    return environmentJson(await updateEnvironment(call, owner, environment_id, edit));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:environment_id`,
  summary: 'Delete a stopped environment (developers)',
  area,
  audience: 'user',
  params: object(environmentParams),
  reply: null,
  handle: async (call, params) =>
    await deleteEnvironment(call, await findAdministeredProject(call, params.id), params.environment_id),
});

const stop = (jobs: JobRunner) =>
  endpoint({
    method: 'POST',
    path: `${path}/:environment_id/stop`,
    summary: 'Stop an environment; runs its `on_stop` job if it has one (developers)',
    area,
    audience: 'user',
    params: object({
      ...environmentParams,
      force: optional(boolean({ description: 'stop without running the `on_stop` job' })),
    }),
    reply: environmentShape,
    handle: async (call, { id: projectId, environment_id, force = false }) => {
      const owner = await findAdministeredProject(call, projectId);
      return environmentJson(await stopEnvironment(call, owner, { id: environment_id, force }, jobs));
    },
  });

/** Job functions that environments need. Passed in, because jobs come after environments in import order. */
export type JobFunctions = { show: LoadJobsById } & JobRunner;

export const environmentRoutes = (jobs: JobFunctions) => [
  list(jobs.show),
  get(jobs.show),
  create,
  update,
  remove,
  stop(jobs),
  ...deploymentRoutes(jobs.show),
];
