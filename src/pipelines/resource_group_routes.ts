/** Resource groups: of the jobs of one, one at a time runs. */
import { endpoint } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import { notFound } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { int, object, oneOf, optional, string, text, timestamp } from '../http/schema.ts';
import { findProjectFor } from '../projects/find.ts';
import { projectParam } from '../repository/code.ts';
import { formatTime } from '../time.ts';
import { resourcesChanged } from './resource_groups.ts';
import type { ResourceGroup } from './upcoming_jobs.ts';

const area = 'resource groups';
const path = '/projects/:id/resource_groups';
const project = { id: projectParam };
const one = { ...project, key: text() };
const modes = ['unordered', 'oldest_first', 'newest_first', 'newest_ready_first'] as const;

const shape = object({
  id: int,
  key: string,
  process_mode: string,
  created_at: timestamp,
  updated_at: timestamp,
});

const json = ({ id, key, process_mode, created_at, updated_at }: ResourceGroup) => ({
  id,
  key,
  process_mode,
  created_at: formatTime(created_at),
  updated_at: formatTime(updated_at),
});

/** @throws Failure 404 */
export const findResourceGroup = async (
  db: Reader,
  projectId: number,
  key: string,
): Promise<ResourceGroup> => {
  const row = await db
    .selectFrom('resource_groups')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('key', '=', key)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Resource Group');
  return row;
};

const list = endpoint({
  method: 'GET',
  path,
  summary: 'Resource groups of a project',
  area,
  audience: 'user',
  list: true,
  params: object({ ...project, ...pageParams }),
  reply: shape,
  handle: async (call, given) => {
    const { id: projectId } = await findProjectFor(call, given.id, 'read_environment');
    const { limit, offset } = pageRequest(given);
    const query = call.db.selectFrom('resource_groups').where('project_id', '=', projectId);
    const [{ total }, items] = await Promise.all([
      query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
      query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
    ]);
    return { items: items.map(json), total };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:key`,
  summary: 'One resource group',
  area,
  audience: 'user',
  params: object(one),
  reply: shape,
  handle: async (call, given) => {
    const { id: projectId } = await findProjectFor(call, given.id, 'read_environment');
    return json(await findResourceGroup(call.db, projectId, given.key));
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:key`,
  summary: 'Say in which order the jobs of a resource group run (developers)',
  area,
  audience: 'user',
  params: object({ ...one, process_mode: optional(oneOf(modes)) }),
  reply: shape,
  handle: async (call, { id, key, process_mode }) => {
    const { id: projectId } = await findProjectFor(call, id, 'admin_environment');
    return await call.write(async (tx) => {
      const before = await findResourceGroup(tx.db, projectId, key);
      if (process_mode === undefined) return json(before);
      const changed = { process_mode, updated_at: tx.now };
      await tx.db.updateTable('resource_groups').set(changed).where('id', '=', before.id).execute();
      await resourcesChanged(tx, [{ project_id: projectId, resource_group: key }]);
      return json({ ...before, ...changed });
    });
  },
});

export const resourceGroupRoutes = [list, get, update];
