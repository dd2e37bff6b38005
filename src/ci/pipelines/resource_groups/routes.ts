/** Endpoints of resource groups, whose jobs run one at a time. */
import { requireActor } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { notFound } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { int, object, oneOf, optional, string, text, timestamp } from '../../../platform/http/schema.ts';
import { findProjectFor } from '../../../projects/projects/find.ts';
import { projectParam } from '../../../code/repository/find_code.ts';
import { formatTime } from '../../../platform/time.ts';
import { enqueueResourceAssignment } from './enqueue_assignment.ts';
import type { ResourceGroup } from './resource_queue.ts';

const area = 'resource groups';
const path = '/projects/:id/resource_groups';
const project = { id: projectParam };
const groupParams = { ...project, key: text() };
const processModes = ['unordered', 'oldest_first', 'newest_first', 'newest_ready_first'] as const;

const shape = object({
  id: int,
  key: string,
  process_mode: string,
  created_at: timestamp,
  updated_at: timestamp,
});

const toJson = ({ id, key, process_mode, created_at, updated_at }: ResourceGroup) => ({
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
  summary: 'List resource groups of a project',
  area,
  audience: 'user',
  list: true,
  params: object({ ...project, ...pageParams }),
  reply: shape,
  handle: async (call, params) => {
    const { id: projectId } = await findProjectFor(call, params.id, 'read_environment');
    const { limit, offset } = pageRequest(params);
    const query = call.db.selectFrom('resource_groups').where('project_id', '=', projectId);
    const [{ total }, items] = await Promise.all([
      query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
      query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
    ]);
    return { items: items.map(toJson), total };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:key`,
  summary: 'Get a resource group',
  area,
  audience: 'user',
  params: object(groupParams),
  reply: shape,
  handle: async (call, params) => {
    const { id: projectId } = await findProjectFor(call, params.id, 'read_environment');
    return toJson(await findResourceGroup(call.db, projectId, params.key));
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:key`,
  summary: 'Set the order in which the jobs of a resource group run (developers)',
  area,
  audience: 'user',
  params: object({ ...groupParams, process_mode: optional(oneOf(processModes)) }),
  reply: shape,
  handle: async (call, { id, key, process_mode }) => {
    const { id: projectId } = await findProjectFor(call, id, 'admin_environment');
    return await call.write(async (tx) => {
      const before = await findResourceGroup(tx.db, projectId, key);
      if (process_mode === undefined) return toJson(before);
      const changed = { process_mode, updated_at: tx.now };
      await tx.db.updateTable('resource_groups').set(changed).where('id', '=', before.id).execute();
      await recordEvent(tx, requireActor(call), {
        kind: 'resource_group.updated',
        project_id: projectId,
        target_type: 'ResourceGroup',
        target_id: before.id,
        data: { key, process_mode: [before.process_mode, process_mode] },
      });
      await enqueueResourceAssignment(tx, [{ project_id: projectId, resource_group: key }]);
      return toJson({ ...before, ...changed });
    });
  },
});

export const resourceGroupRoutes = [list, get, update];
