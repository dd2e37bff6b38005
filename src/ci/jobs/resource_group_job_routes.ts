/** Endpoints for the current and the upcoming jobs of a resource group. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { object, text } from '../../platform/http/schema.ts';
import { findResourceGroup } from '../pipelines/resource_groups/routes.ts';
import {
  findResourceHolder,
  orderByTurn,
  selectUpcomingJobs,
} from '../pipelines/resource_groups/resource_queue.ts';
import { findProjectFor } from '../../projects/projects/find.ts';
import { type Code, findCode, projectParam } from '../../code/repository/find_code.ts';
import { loadAnyJob } from './find.ts';
import { jobJson, jobShape, jobsJson } from './json.ts';
import { jobColumns } from './rows.ts';

const area = 'resource groups';
const path = '/projects/:id/resource_groups/:key';
const groupParams = { id: projectParam, key: text() };

const findGroup = async (call: Call, id: number | string, key: string) => {
  await findProjectFor(call, id, 'read_environment');
  const code: Code = await findCode(call, id, 'read_job');
  return { code, group: await findResourceGroup(call.db, code.project.id, key) };
};

const upcoming = endpoint({
  method: 'GET',
  path: `${path}/upcoming_jobs`,
  summary: 'List upcoming jobs of a resource group, in order',
  area,
  audience: 'user',
  list: true,
  params: object({ ...groupParams, ...pageParams }),
  reply: jobShape,
  handle: async (call, { id, key, ...page }) => {
    const { code, group } = await findGroup(call, id, key);
    const { limit, offset } = pageRequest(page);
    const query = selectUpcomingJobs(call.db, group);
    const [{ total }, jobs] = await Promise.all([
      query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
      orderByTurn(query, group).select(jobColumns).limit(limit).offset(offset).execute(),
    ]);
    return { items: await jobsJson(call, code, jobs), total };
  },
});

const current = endpoint({
  method: 'GET',
  path: `${path}/current_job`,
  summary: 'Get the job that holds a resource group',
  area,
  audience: 'user',
  params: object(groupParams),
  reply: jobShape,
  handle: async (call, { id, key }) => {
    const { code, group } = await findGroup(call, id, key);
    const holder = await findResourceHolder(call.db, group);
    if (holder === null) throw notFound();
    return await jobJson(call, code, await loadAnyJob(call.db, code.project.id, holder));
  },
});

export const resourceGroupJobRoutes = [upcoming, current];
