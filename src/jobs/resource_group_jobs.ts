/** The jobs of a resource group: who has the resource, and who is to get it. */
import { type Call, endpoint } from '../access/call.ts';
import { notFound } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { object, text } from '../http/schema.ts';
import { findResourceGroup } from '../pipelines/resource_group_routes.ts';
import { holderOf, byTurn, upcomingJobs } from '../pipelines/upcoming_jobs.ts';
import { findProjectFor } from '../projects/find.ts';
import { type Code, findCode, projectParam } from '../repository/code.ts';
import { loadAnyJob } from './find.ts';
import { jobJson, jobShape, jobsJson } from './json.ts';
import { jobColumns } from './rows.ts';

const area = 'resource groups';
const path = '/projects/:id/resource_groups/:key';
const one = { id: projectParam, key: text() };

const find = async (call: Call, id: number | string, key: string) => {
  await findProjectFor(call, id, 'read_environment');
  const code: Code = await findCode(call, id, 'read_job');
  return { code, group: await findResourceGroup(call.db, code.project.id, key) };
};

const upcoming = endpoint({
  method: 'GET',
  path: `${path}/upcoming_jobs`,
  summary: 'The jobs that are to get the resource of a group, in their order',
  area,
  audience: 'user',
  list: true,
  params: object({ ...one, ...pageParams }),
  reply: jobShape,
  handle: async (call, { id, key, ...page }) => {
    const { code, group } = await find(call, id, key);
    const { limit, offset } = pageRequest(page);
    const query = upcomingJobs(call.db, group);
    const [{ total }, jobs] = await Promise.all([
      query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
      byTurn(query, group).select(jobColumns).limit(limit).offset(offset).execute(),
    ]);
    return { items: await jobsJson(call, code, jobs), total };
  },
});

const current = endpoint({
  method: 'GET',
  path: `${path}/current_job`,
  summary: 'The job that has the resource of a group',
  area,
  audience: 'user',
  params: object(one),
  reply: jobShape,
  handle: async (call, { id, key }) => {
    const { code, group } = await find(call, id, key);
    const holder = await holderOf(call.db, group);
    if (holder === null) throw notFound();
    return await jobJson(call, code, await loadAnyJob(call.db, code.project.id, holder));
  },
});

export const resourceGroupJobRoutes = [upcoming, current];
