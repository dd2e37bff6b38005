/** The Changes tab of a merge request, and its forms. */
import { object } from '../../../../../platform/http/schema.ts';
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { RawPage, page } from '../../../page.ts';
import { oneRequest } from '../paths.ts';
import { commentPages, routePath } from './actions/comment_pages.ts';
import { reviewPages } from './actions/review_pages.ts';
import { suggestionPages } from './actions/suggestion_pages.ts';
import { viewedPages } from './actions/viewed_pages.ts';
import { changesParams, choiceParams } from './changes_address.ts';
import { changesView, threadsFragment } from './changes_view.ts';

const changes = page({
  method: 'GET',
  path: routePath,
  audience: 'visitor',
  params: object({ ...oneRequest, ...changesParams }),
  handle: async (visit, { project, iid, ...query }) => {
    const loaded = await findMergeRequest(visit.call, project, iid);
    return await changesView(visit, loaded, query);
  },
});

const threads = page({
  method: 'GET',
  path: `${routePath}/threads`,
  audience: 'user',
  params: object({ ...oneRequest, ...choiceParams, file: changesParams.file }),
  handle: async (visit, { project, iid, ...query }) => {
    const loaded = await findMergeRequest(visit.call, project, iid);
    const { text } = await threadsFragment(visit, loaded, query);
    return new RawPage(text, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; sandbox",
    });
  },
});

export const changesPages = [
  changes,
  threads,
  ...commentPages,
  ...reviewPages,
  ...suggestionPages,
  ...viewedPages,
];
