/** The reviewers of a merge request, each with how far they are. */
import { endpoint } from '../access/call.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { object, string, timestamp } from '../http/schema.ts';
import { formatTime } from '../time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../users/json.ts';
import { findReadable } from './find.ts';
import { requestParams, requestPath } from './params.ts';
import { listReviewers } from './reviewers.ts';

const list = endpoint({
  method: 'GET',
  path: `${requestPath}/reviewers`,
  summary: 'Reviewers of a merge request',
  area: 'merge_requests',
  audience: 'user',
  list: true,
  params: object({ ...requestParams, ...pageParams }),
  reply: object({ user: basicUserShape, state: string, created_at: timestamp }),
  handle: async (call, params) => {
    const { target } = await findReadable(call, params.id, params.merge_request_iid);
    const { items, total } = await listReviewers(call.db, target, pageRequest(params));
    const users = await basicUsersById(
      call.db,
      items.map(({ user_id }) => user_id),
    );
    const shown = items.flatMap(({ user_id, state, created_at }) => {
      const user = users.get(user_id);
      return user === undefined
        ? []
        : [{ user: basicUser(user, call), state, created_at: formatTime(created_at) }];
    });
    return { items: shown, total };
  },
});

export const reviewerRoutes = [list];
