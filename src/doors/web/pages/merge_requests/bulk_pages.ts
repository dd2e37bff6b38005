/** The form that changes several merge requests of a list. */
import { findMergeRequest } from '../../../../review/merge_requests/find.ts';
import { mergeRequestNoun } from '../../../../review/merge_requests/noun.ts';
import { updateMergeRequest } from '../../../../review/merge_requests/update.ts';
import { bulkPages } from '../issuables/bulk/pages.ts';

export const pages = bulkPages({
  noun: mergeRequestNoun,
  find: findMergeRequest,
  adminAction: 'admin_merge_request',
  reviewerIds: ({ merge_request }) => merge_request.reviewers.map(({ id }) => id),
  updatedAt: ({ merge_request }) => merge_request.updated_at,
  update: updateMergeRequest,
});
