/** Route that lists the reviewers of a merge request with the state of their review. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { object, string, timestamp } from '../../../platform/http/schema.ts';
import { formatTime } from '../../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../../identity/users/json.ts';
import { findReadable } from '../find.ts';
import { requestParams, requestPath } from '../params.ts';
import { listReviewers } from './reviewers.ts';

const list = endpoint({
  method: 'GET',
  path: `${requestPath}/reviewers`,
  summary: 'List the reviewers of a merge request',
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
