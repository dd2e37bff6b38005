import { may } from '../access/may.ts';
import { ownRow } from '../issuables/own_row.ts';
import type { Noun } from '../issuables/target.ts';
import { findMergeRequest, findReadable } from './find.ts';
import { mergeRequestUrl } from './json.ts';

/** Merge requests, for what they share with issues. */
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

/** As `mergeRequestNoun`, for time tracking: what the caller may not read is missing there, not forbidden. */
export const trackedMergeRequest: Noun = { ...mergeRequestNoun, find: findMergeRequest };
