/** Endpoints of deployments. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { boolean, id, object, oneOf, optional, text, time } from '../../../platform/http/schema.ts';
import { findProjectFor } from '../../../projects/projects/find.ts';
import { findCode, projectParam } from '../../../code/repository/find_code.ts';
import { createDeployment, deleteDeployment, updateDeployment } from './record_deployments.ts';
import { deploymentOrders, listDeployments } from './list.ts';
import { type LoadJobsById, deploymentShape, deploymentsJson } from '../json.ts';
import { findDeployment } from '../queries.ts';

const area = 'deployments';
const path = '/projects/:id/deployments';
const project = { id: projectParam };
const deploymentParams = { ...project, deployment_id: id() };

const settableStatuses = ['running', 'success', 'failed', 'canceled'] as const;

const list = (loadJobs: LoadJobsById) =>
  endpoint({
    method: 'GET',
    path,
    summary: 'List deployments of a project',
    area,
    audience: 'user',
    list: true,
    params: object({
      ...project,
      order_by: oneOf(deploymentOrders, { default: 'id' }),
      sort: oneOf(['asc', 'desc'], { default: 'asc' }),
      environment: optional(text({ description: 'name of the environment' })),
      status: optional(oneOf(['created', ...settableStatuses, 'skipped', 'blocked'])),
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
      return { items: await deploymentsJson(call, owner, items, loadJobs), total };
    },
  });

const get = (loadJobs: LoadJobsById) =>
  endpoint({
    method: 'GET',
    path: `${path}/:deployment_id`,
    summary: 'Get a deployment',
    area,
    audience: 'user',
    params: object(deploymentParams),
    reply: deploymentShape,
    handle: async (call, { id: projectId, deployment_id }) => {
      const owner = await findProjectFor(call, projectId, 'read_environment');
      const row = await findDeployment(call.db, owner.id, deployment_id);
      return (await deploymentsJson(call, owner, [row], loadJobs))[0];
    },
  });

const create = (loadJobs: LoadJobsById) =>
  endpoint({
    method: 'POST',
    path,
    summary: 'Record a deployment by an external program (developers)',
    area,
    audience: 'user',
    params: object({
      ...project,
      environment: text({ description: 'name of the environment; created if missing' }),
      sha: text(),
      ref: text({ maxLength: 1000, description: 'name of the branch or tag' }),
      tag: boolean({ description: 'true if `ref` is a tag' }),
      status: oneOf(settableStatuses),
    }),
    reply: deploymentShape,
    handle: async (call, { id: projectId, ...rest }) => {
      const code = await findCode(call, projectId, 'admin_environment');
      const row = await createDeployment(call, code, rest);
      return (await deploymentsJson(call, code.project, [row], loadJobs))[0];
    },
  });

const update = (loadJobs: LoadJobsById) =>
  endpoint({
    method: 'PUT',
    path: `${path}/:deployment_id`,
    summary: 'Update the status of a deployment by an external program (developers)',
    area,
    audience: 'user',
    params: object({ ...deploymentParams, status: oneOf(settableStatuses) }),
    reply: deploymentShape,
    handle: async (call, { id: projectId, deployment_id, status }) => {
      const owner = await findProjectFor(call, projectId, 'admin_environment');
      const row = await updateDeployment(call, owner, deployment_id, status);
      return (await deploymentsJson(call, owner, [row], loadJobs))[0];
    },
  });

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:deployment_id`,
  summary: 'Delete a finished deployment that is not current (maintainers)',
  area,
  audience: 'user',
  params: object(deploymentParams),
  reply: null,
  handle: async (call, { id: projectId, deployment_id }) =>
    await deleteDeployment(call, await findProjectFor(call, projectId, 'destroy_deployment'), deployment_id),
});

export const deploymentRoutes = (loadJobs: LoadJobsById) => [
  list(loadJobs),
  get(loadJobs),
  create(loadJobs),
  update(loadJobs),
  remove,
];
