/** The Overview tab of a merge request. */
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { page } from '../../../page.ts';
import { markdown } from '../../../parts/markdown.ts';
import { oneRequest, servedRequests } from '../find.ts';
import { requestFrame } from '../frame/frame.ts';

export const showPages = [
  page({
    method: 'GET',
    path: `${servedRequests}/:iid`,
    audience: 'visitor',
    params: object(oneRequest),
    handle: async (visit, { project: path, iid }) => {
      const loaded = await findMergeRequest(visit.call, path, iid);
      const { merge_request, project } = loaded;
      const description = await markdown(visit.call, merge_request.description ?? '', { project });
      return await requestFrame(visit, loaded, { tab: 'overview' }, description);
    },
  }),
];
