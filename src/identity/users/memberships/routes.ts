/** User data for administrators: memberships. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { id, int, object, oneOf, optional, string } from '../../../platform/http/schema.ts';
import { loadUser } from '../queries.ts';
import { listMemberships } from './list_memberships.ts';

const area = 'users';

const memberships = endpoint({
  method: 'GET',
  path: '/users/:id/memberships',
  summary: 'List the memberships of a user (administrators)',
  area,
  audience: 'admin',
  list: true,
  params: object({ id: id(), type: optional(oneOf(['Project', 'Namespace'])), ...pageParams }),
  reply: object({ source_id: int, source_name: string, source_type: string, access_level: int }),
  handle: async (call, { id: userId, type, ...paging }) => {
    await loadUser(call.db, userId);
    return await listMemberships(call, userId, { type, ...pageRequest(paging) });
  },
});

export const membershipRoutes = [memberships];
