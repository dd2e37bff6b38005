import { may } from '../../core/access/may.ts';
import { ownRow } from '../../planning/issuables/target_row.ts';
import type { Noun } from '../../planning/issuables/target.ts';
import { findMergeRequest, findReadable } from './find.ts';
import { mergeRequestUrl } from './web_url.ts';

/** Merge requests as a noun: the operations they share with issues. */
export const mergeRequestNoun: Noun = {
  type: 'MergeRequest',
  segment: 'merge_requests',
  param: 'merge_request_iid',
  word: 'merge request',
  find: findReadable,
  mayUpdate: (call, { project, target }) => may(call.viewer, 'update_merge_request', project, target),
  webUrl: (call, { project, target }) => mergeRequestUrl(call.baseUrl, project.full_path, target.iid),
  ...ownRow('merge_requests'),
};

/** Like `mergeRequestNoun`, for time tracking, which replies 404 instead of 403 without read access. */
export const trackedMergeRequest: Noun = { ...mergeRequestNoun, find: findMergeRequest };
