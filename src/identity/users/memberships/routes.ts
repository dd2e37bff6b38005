/** What administrators read of a user: memberships, and further addresses. */
import { sql } from 'kysely';
import { type Call, requireUser } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { today } from '../../../core/access/viewer.ts';
import { notFound } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import {
  id,
  int,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '../../../platform/http/schema.ts';
import { loadUser } from '../queries.ts';

const area = 'users';

const memberships = endpoint({
  method: 'GET',
  path: '/users/:id/memberships',
  summary: 'Projects and groups of which a user is a direct member',
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

const emailShape = object({ id: int, email: string, confirmed_at: nullable(timestamp) });

/** Accounts have one address, which is no record of its own: these lists are empty, as for users with one address. */
const emailRoutes = (
  path: string,
  audience: 'user' | 'admin',
  find: (call: Call, id: number) => Promise<unknown>,
) => {
  const params = path.includes(':id') ? { id: id() } : {};
  const check = async (call: Call, input: object): Promise<void> =>
    void (await find(call, (input as { id?: number }).id ?? 0));
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'Further addresses of a user: there are none',
      area,
      audience,
      list: true,
      params: object({ ...params, ...pageParams }),
      reply: emailShape,
      handle: async (call, input) => {
        await check(call, input);
        return { items: [], total: 0 };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:email_id`,
      summary: 'One further address of a user: there are none',
      area,
      audience,
      params: object({ ...params, email_id: id() }),
      reply: emailShape,
      handle: async (call, input) => {
        await check(call, input);
        throw notFound('Email');
      },
    }),
  ];
};

export const membershipRoutes = [
  memberships,
  ...emailRoutes('/user/emails', 'user', async (call) => await Promise.resolve(requireUser(call))),
  ...emailRoutes('/users/:id/emails', 'admin', async ({ db }, userId) => await loadUser(db, userId)),
];
