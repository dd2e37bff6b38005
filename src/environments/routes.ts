/** Environments: where the jobs of a project bring what they make. */
import { type Call, endpoint } from '../access/call.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { boolean, clearable, id, longText, object, oneOf, optional, text } from '../http/schema.ts';
import { findProjectFor } from '../projects/find.ts';
import { projectParam } from '../repository/code.ts';
import { createEnvironment, deleteEnvironment, updateEnvironment } from './change.ts';
import { deploymentRoutes } from './deployment_routes.ts';
import { type ShowJobs, deploymentsJson, environmentJson, environmentShape } from './json.ts';
import { findEnvironment, lastDeployment, lastDeployments, listEnvironments } from './queries.ts';
import { tiers } from './slug.ts';
import { type PlayJobs, stopEnvironment } from './stop.ts';

const area = 'environments';
const path = '/projects/:id/environments';
const project = { id: projectParam };
const one = { ...project, environment_id: id() };

const edits = {
  external_url: optional(clearable(text({ description: 'http(s) address of what is deployed there' }))),
  tier: optional(oneOf(tiers)),
  description: optional(clearable(longText())),
};

const list = (showJobs: ShowJobs) =>
  endpoint({
    method: 'GET',
    path,
    summary: 'Environments of a project',
    area,
    audience: 'user',
    list: true,
    params: object({
      ...project,
      name: optional(text({ description: 'exactly this one' })),
      search: optional(text({ description: 'a part of the name' })),
      states: optional(oneOf(['available', 'stopping', 'stopped'])),
      ...pageParams,
    }),
    reply: environmentShape,
    handle: async (call, given) => {
      const owner = await findProjectFor(call, given.id, 'read_environment');
      const { items, total } = await listEnvironments(call.db, owner.id, given, pageRequest(given));
      const rows = await lastDeployments(
        call.db,
        items.map((row) => row.id),
      );
      const shown = await deploymentsJson(call, owner, rows, showJobs);
      const byEnvironment = new Map(rows.map((row, at) => [row.environment_id, shown[at]]));
      return {
        items: items.map((row) => ({
          ...environmentJson(row),
          last_deployment: byEnvironment.get(row.id) ?? null,
        })),
        total,
      };
    },
  });

const get = (showJobs: ShowJobs) =>
  endpoint({
    method: 'GET',
    path: `${path}/:environment_id`,
    summary: 'One environment, with what was last deployed there',
    area,
    audience: 'user',
    params: object(one),
    reply: environmentShape,
    handle: async (call, given) => {
      const owner = await findProjectFor(call, given.id, 'read_environment');
      const row = await findEnvironment(call.db, owner.id, given.environment_id);
      const last = await lastDeployment(call.db, row.id);
      const shown = await deploymentsJson(call, owner, last === null ? [] : [last], showJobs);
      return { ...environmentJson(row), last_deployment: shown[0] ?? null };
    },
  });

const administered = async (call: Call, projectId: number | string) =>
  await findProjectFor(call, projectId, 'admin_environment');

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Make an environment (developers)',
  area,
  audience: 'user',
  params: object({ ...project, name: text(), ...edits }),
  reply: environmentShape,
  handle: async (call, { id: projectId, ...given }) => {
    const owner = await administered(call, projectId);
    return environmentJson(await createEnvironment(call, owner, given));
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:environment_id`,
  summary: 'Edit an environment (developers)',
  area,
  audience: 'user',
  params: object({ ...one, ...edits }),
  reply: environmentShape,
  handle: async (call, { id: projectId, environment_id, ...edit }) => {
    const owner = await administered(call, projectId);
    return environmentJson(await updateEnvironment(call, owner, environment_id, edit));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:environment_id`,
  summary: 'Delete an environment that is stopped (developers)',
  area,
  audience: 'user',
  params: object(one),
  reply: null,
  handle: async (call, given) =>
    await deleteEnvironment(call, await administered(call, given.id), given.environment_id),
});

const stop = (jobs: PlayJobs) =>
  endpoint({
    method: 'POST',
    path: `${path}/:environment_id/stop`,
    summary: 'Stop an environment, by the job that is named for it where there is one (developers)',
    area,
    audience: 'user',
    params: object({ ...one, force: optional(boolean({ description: 'without that job' })) }),
    reply: environmentShape,
    handle: async (call, { id: projectId, environment_id, force = false }) => {
      const owner = await administered(call, projectId);
      return environmentJson(await stopEnvironment(call, owner, { id: environment_id, force }, jobs));
    },
  });

/** What of jobs environments need, and which stand behind them. */
export type JobParts = { show: ShowJobs } & PlayJobs;

export const environmentRoutes = (jobs: JobParts) => [
  list(jobs.show),
  get(jobs.show),
  create,
  update,
  remove,
  stop(jobs),
  ...deploymentRoutes(jobs.show),
];
