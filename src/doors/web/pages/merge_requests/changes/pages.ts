/** The Changes tab of a merge request, and its forms. */
import { object } from '../../../../../platform/http/schema.ts';
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { page } from '../../../page.ts';
import { oneRequest } from '../find.ts';
import { commentPages, served } from './actions/comment_pages.ts';
import { reviewPages } from './actions/review_pages.ts';
import { suggestionPages } from './actions/suggestion_pages.ts';
import { viewedPages } from './actions/viewed_pages.ts';
import { changesParams } from './changes_address.ts';
import { changesView } from './changes_view.ts';

const changes = page({
  method: 'GET',
  path: served,
  audience: 'visitor',
  params: object({ ...oneRequest, ...changesParams }),
  handle: async (visit, { project, iid, ...query }) =>
    await changesView(visit, await findMergeRequest(visit.call, project, iid), query),
});

export const changesPages = [changes, ...commentPages, ...reviewPages, ...suggestionPages, ...viewedPages];
