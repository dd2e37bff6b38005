/** User data for administrators: memberships. */
import { sql } from 'kysely';
import { endpoint } from '../../../core/access/endpoint.ts';
import { today } from '../../../core/access/viewer.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { id, int, object, oneOf, optional, string } from '../../../platform/http/schema.ts';
import { loadUser } from '../queries.ts';

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
    const { limit, offset } = pageRequest(paging);
    const query = call.db
      .selectFrom('members')
      .leftJoin('projects', (join) =>
        join.onRef('projects.id', '=', 'members.source_id').on('members.source_type', '=', 'Project'),
      )
      .leftJoin('namespaces', (join) =>
        join.onRef('namespaces.id', '=', 'members.source_id').on('members.source_type', '=', 'Namespace'),
      )
      .where('members.user_id', '=', userId)
      .where(sql<boolean>`(members.expires_at is null or members.expires_at > ${today(call.now)})`)
      .where(sql<boolean>`case when members.source_type = 'Project'
        then projects.deleted_at is null else namespaces.deleted_at is null end`)
      .$if(type !== undefined, (all) => all.where(sql<boolean>`members.source_type = ${type}`));
    const [items, { total }] = await Promise.all([
      query
        .select(['members.source_id', 'members.source_type', 'members.access_level'])
        .select(sql<string>`coalesce(projects.name, namespaces.name)`.as('source_name'))
        .orderBy('members.id')
        .limit(limit)
        .offset(offset)
        .execute(),
      query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    ]);
    return { items, total };
  },
});

export const membershipRoutes = [memberships];
