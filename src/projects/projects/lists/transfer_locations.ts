/** Endpoint of the groups that a project can be moved to. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { creationLevels } from '../../../core/access/may.ts';
import { allOf, anyOf } from '../../../core/access/visible.ts';
import { groupShape } from '../../../identity/groups/json.ts';
import { listGroups } from '../../../identity/groups/list.ts';
import { groupsAtLeast } from '../../../identity/groups/visible.ts';
import { pageParams } from '../../../platform/http/page.ts';
import { idOrPath, object, optional, text } from '../../../platform/http/schema.ts';
import { findProjectFor } from '../find.ts';

/** Over `namespaces`: groups in which the caller may create projects, as `create_project` requires. */
const mayCreateProjects = ({ viewer, platform }: Call): RawBuilder<boolean> => {
  const { dialect } = platform.store;
  if (viewer.admin) return sql<boolean>`1 = 1`;
  const settings = (['owner', 'maintainer', 'developer'] as const).map((word) =>
    allOf([
      sql<boolean>`namespaces.project_creation_level = ${word}`,
      groupsAtLeast(viewer, creationLevels[word], dialect),
    ]),
  );
  return anyOf(settings);
};

export const transferLocations = endpoint({
  method: 'GET',
  path: '/projects/:id/transfer_locations',
  summary: 'List groups that a project can be moved to',
  area: 'projects',
  audience: 'user',
  params: object({
    id: idOrPath('id or full path of the project'),
    search: optional(text({ description: 'part of the name or path' })),
    ...pageParams,
  }),
  reply: groupShape,
  list: true,
  handle: async (call, { id, ...params }) => {
    const { namespace_id } = await findProjectFor(call, id, 'transfer_project');
    const isTarget = allOf([sql<boolean>`namespaces.id <> ${namespace_id}`, mayCreateProjects(call)]);
    return await listGroups(
      call,
      { ...params, all_available: true, order_by: 'name', sort: 'asc' },
      isTarget,
    );
  },
});
