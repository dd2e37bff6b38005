/** The Commits tab of a merge request. */
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { page } from '../../../page.ts';
import { html } from '../../../parts/html.ts';
import { oneRequest, servedRequests } from '../find.ts';
import { requestFrame } from '../frame/frame.ts';

export const commitsPages = [
  page({
    method: 'GET',
    path: `${servedRequests}/:iid/commits`,
    audience: 'visitor',
    params: object(oneRequest),
    handle: async (visit, { project, iid }) => {
      const loaded = await findMergeRequest(visit.call, project, iid);
      return await requestFrame(visit, loaded, { tab: 'commits' }, html``);
    },
  }),
];
