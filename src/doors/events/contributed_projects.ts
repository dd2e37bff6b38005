/** Endpoint of the projects that a user contributed to. It lives here, since the activity decides what it lists. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { allOf } from '../../core/access/visible.ts';
import { idOrPath, object, oneOf } from '../../platform/http/schema.ts';
import { dayMilliseconds } from '../../platform/time.ts';
import { projectShape } from '../../projects/projects/json.ts';
import { listProjects, projectListParams, projectOrders } from '../../projects/projects/lists/list.ts';
import { findProjectOwner } from '../../projects/projects/lists/user_projects.ts';
import { isContribution } from './contributions.ts';
import { visibleActivities } from './visible_activities.ts';

/** As in GitLab, older activity does not count. */
const maxAge = 365 * dayMilliseconds;

/** Over `projects`: the user did something there within a year that the caller sees. */
const contributedBy = ({ viewer, platform, now }: Call, userId: number): RawBuilder<boolean> => {
  const where = allOf([
    sql<boolean>`activities.author_id = ${userId}`,
    sql<boolean>`activities.created_at >= ${now - maxAge}`,
    isContribution,
    visibleActivities(viewer, platform.store.dialect),
  ]);
  return sql<boolean>`projects.id in (select activities.project_id
    from activities join projects on projects.id = activities.project_id where ${where})`;
};

export const contributedProjects = endpoint({
  method: 'GET',
  path: '/users/:user_id/contributed_projects',
  summary: 'List projects that a user contributed to within a year',
  area: 'projects',
  audience: 'optional',
  params: object({
    user_id: idOrPath('id or name of the user'),
    ...projectListParams,
    order_by: oneOf(projectOrders, { default: 'last_activity_at' }),
  }),
  reply: projectShape,
  list: true,
  handle: async (call, params) => {
    const { id } = await findProjectOwner(call, params.user_id);
    return await listProjects(call, params, contributedBy(call, id));
  },
});
