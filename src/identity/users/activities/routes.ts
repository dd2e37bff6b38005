/** Endpoint of the days on which users were last active. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { today } from '../../../core/access/viewer.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { date, object, optional, string } from '../../../platform/http/schema.ts';
import { dayMilliseconds } from '../../../platform/time.ts';

/** As in GitLab, about six months. */
const defaultDays = 180;

export const userActivities = endpoint({
  method: 'GET',
  path: '/user/activities',
  summary: 'List users by the day of their last activity, earliest first (administrators)',
  area: 'users',
  audience: 'admin',
  list: true,
  params: object({ from: optional(date('first day; default: 180 days ago')), ...pageParams }),
  reply: object({ username: string, last_activity_on: string, last_activity_at: string }),
  handle: async (call, params) => {
    const from = params.from ?? today(call.now - defaultDays * dayMilliseconds);
    const query = call.db.selectFrom('users').where('last_activity_on', '>=', from);
    const { limit, offset } = pageRequest(params);
    const [{ total }, rows] = await Promise.all([
      query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
      query
        .select(['username', 'last_activity_on'])
        .orderBy('last_activity_on')
        .orderBy('id')
        .limit(limit)
        .offset(offset)
        .execute(),
    ]);
    const items = rows.map(({ username, last_activity_on: day }) => ({
      username,
      last_activity_on: day,
      last_activity_at: day,
    }));
    return { items, total };
  },
});
