import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { notFound } from '../../../platform/errors.ts';
import { idOrPath, object } from '../../../platform/http/schema.ts';
import { projectShape } from '../json.ts';
import { listProjects, projectListParams } from './list.ts';

const isPublic = sql`projects.visibility = 'public' and projects.deleted_at is null`;

/** Over `users` and their personal `namespaces`: the user owns or starred a public project. */
const openProject = sql<boolean>`(
  exists (select 1 from projects where projects.namespace_id = namespaces.id and ${isPublic})
  or exists (select 1 from project_stars join projects on projects.id = project_stars.project_id
    where project_stars.user_id = users.id and ${isPublic}))`;

/**
 * Loads a user by id or name, with their personal namespace. Anonymous callers find only users who own or starred a
 * public project, so that names cannot be probed.
 */
export const findProjectOwner = async (
  call: Call,
  user: number | string,
): Promise<{ id: number; namespace_id: number }> => {
  const named: RawBuilder<boolean> =
    typeof user === 'number'
      ? sql`users.id = ${user}`
      : sql`lower(users.username) = ${user.toLowerCase()} and users.ghost = 0`;
  const row = await call.db
    .selectFrom('users')
    .innerJoin('namespaces', 'namespaces.owner_id', 'users.id')
    .select(['users.id', 'namespaces.id as namespace_id'])
    .where(named)
    .where('namespaces.kind', '=', 'user')
    .where('namespaces.deleted_at', 'is', null)
    .$if(!call.signedIn, (query) => query.where(openProject))
    .executeTakeFirst();
  if (row === undefined) throw notFound('User');
  return row;
};

export const ofUser = endpoint({
  method: 'GET',
  path: '/users/:user_id/projects',
  summary: 'List personal projects of a user',
  area: 'projects',
  audience: 'optional',
  params: object({ user_id: idOrPath('id or name of the user'), ...projectListParams }),
  reply: projectShape,
  list: true,
  handle: async (call, params) => {
    const { namespace_id } = await findProjectOwner(call, params.user_id);
    return await listProjects(call, params, sql<boolean>`projects.namespace_id = ${namespace_id}`);
  },
});
