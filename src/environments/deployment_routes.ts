/** Deployments: what was brought to an environment, and when. */
import { endpoint } from '../access/call.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { boolean, id, object, oneOf, optional, text, time } from '../http/schema.ts';
import { findProjectFor } from '../projects/find.ts';
import { findCode, projectParam } from '../repository/code.ts';
import { createDeployment, deleteDeployment, updateDeployment } from './deployment_change.ts';
import { deploymentOrders, listDeployments } from './deployment_list.ts';
import { type ShowJobs, deploymentShape, deploymentsJson } from './json.ts';
import { findDeployment } from './queries.ts';

const area = 'deployments';
const path = '/projects/:id/deployments';
const project = { id: projectParam };
const one = { ...project, deployment_id: id() };

const given = ['running', 'success', 'failed', 'canceled'] as const;

const list = (showJobs: ShowJobs) =>
  endpoint({
    method: 'GET',
    path,
    summary: 'Deployments of a project',
    area,
    audience: 'user',
    list: true,
    params: object({
      ...project,
      order_by: oneOf(deploymentOrders, { default: 'id' }),
      sort: oneOf(['asc', 'desc'], { default: 'asc' }),
      environment: optional(text({ description: 'name of the environment' })),
      status: optional(oneOf(['created', ...given, 'skipped', 'blocked'])),
      updated_after: optional(time()),
      updated_before: optional(time()),
      finished_after: optional(time()),
      finished_before: optional(time()),
      ...pageParams,
    }),
    reply: deploymentShape,
    handle: async (call, { id: projectId, ...filter }) => {
      const owner = await findProjectFor(call, projectId, 'read_environment');
      const { items, total } = await listDeployments(call.db, owner.id, filter, pageRequest(filter));
      return { items: await deploymentsJson(call, owner, items, showJobs), total };
    },
  });

const get = (showJobs: ShowJobs) =>
  endpoint({
    method: 'GET',
    path: `${path}/:deployment_id`,
    summary: 'One deployment',
    area,
    audience: 'user',
    params: object(one),
    reply: deploymentShape,
    handle: async (call, { id: projectId, deployment_id }) => {
      const owner = await findProjectFor(call, projectId, 'read_environment');
      const row = await findDeployment(call.db, owner.id, deployment_id);
      return (await deploymentsJson(call, owner, [row], showJobs))[0];
    },
  });

const create = (showJobs: ShowJobs) =>
  endpoint({
    method: 'POST',
    path,
    summary: 'Tell of a deployment that another program does (developers)',
    area,
    audience: 'user',
    params: object({
      ...project,
      environment: text({ description: 'name of the environment; made where it is missing' }),
      sha: text(),
      ref: text({ maxLength: 1000, description: 'name of the branch or tag' }),
      tag: boolean({ description: 'whether that is a tag' }),
      status: oneOf(given),
    }),
    reply: deploymentShape,
    handle: async (call, { id: projectId, ...rest }) => {
      const code = await findCode(call, projectId, 'admin_environment');
      const row = await createDeployment(call, code, rest);
      return (await deploymentsJson(call, code.project, [row], showJobs))[0];
    },
  });

const update = (showJobs: ShowJobs) =>
  endpoint({
    method: 'PUT',
    path: `${path}/:deployment_id`,
    summary: 'Tell how a deployment that another program does goes on (developers)',
    area,
    audience: 'user',
    params: object({ ...one, status: oneOf(given) }),
    reply: deploymentShape,
    handle: async (call, { id: projectId, deployment_id, status }) => {
      const owner = await findProjectFor(call, projectId, 'admin_environment');
      const row = await updateDeployment(call, owner, deployment_id, status);
      return (await deploymentsJson(call, owner, [row], showJobs))[0];
    },
  });

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:deployment_id`,
  summary: 'Delete a deployment that is over and not the last one (masters)',
  area,
  audience: 'user',
  params: object(one),
  reply: null,
  handle: async (call, { id: projectId, deployment_id }) =>
    await deleteDeployment(call, await findProjectFor(call, projectId, 'destroy_deployment'), deployment_id),
});

export const deploymentRoutes = (showJobs: ShowJobs) => [
  list(showJobs),
  get(showJobs),
  create(showJobs),
  update(showJobs),
  remove,
];
