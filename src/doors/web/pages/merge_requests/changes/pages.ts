/** The Changes tab of a merge request, and its forms. */
import { object } from '../../../../../platform/http/schema.ts';
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { page } from '../../../page.ts';
import { oneRequest } from '../find.ts';
import { commentPages, served } from './acts/comment.ts';
import { reviewPages } from './acts/review.ts';
import { suggestionPages } from './acts/suggest.ts';
import { viewedPages } from './acts/viewed.ts';
import { changesParams } from './query.ts';
import { changesView } from './view.ts';

const changes = page({
  method: 'GET',
  path: served,
  audience: 'visitor',
  params: object({ ...oneRequest, ...changesParams }),
  handle: async (visit, { project, iid, ...query }) =>
    await changesView(visit, await findMergeRequest(visit.call, project, iid), query),
});

export const changesPages = [changes, ...commentPages, ...reviewPages, ...suggestionPages, ...viewedPages];
