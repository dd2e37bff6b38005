/** The Overview tab of a merge request. */
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { integer, object, optional } from '../../../../../platform/http/schema.ts';
import { page } from '../../../page.ts';
import { activityParam, withActivityFilter } from '../../../parts/timeline/activity_nav.ts';
import { oneRequest, requestsRoutePath } from '../paths.ts';
import { requestView } from './request_view.ts';

export const showPages = [
  page({
    method: 'GET',
    path: `${requestsRoutePath}/:iid`,
    audience: 'visitor',
    params: object({ ...oneRequest, page: optional(integer()), ...activityParam }),
    handle: async (visit, { project, iid, page: requested, activity_filter }) =>
      await requestView(
        withActivityFilter(visit, activity_filter),
        await findMergeRequest(visit.call, project, iid),
        { page: requested },
      ),
  }),
];
