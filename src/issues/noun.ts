import { may } from '../access/may.ts';
import { ownRow } from '../issuables/own_row.ts';
import type { Noun } from '../issuables/target.ts';
import { findIssue } from './find.ts';
import { issueUrl } from './json.ts';

/** Issues, for what they share with merge requests. */
export const issueNoun: Noun = {
  type: 'Issue',
  segment: 'issues',
  param: 'issue_iid',
  word: 'issue',
  find: findIssue,
  mayUpdate: (call, { project, target }) => may(call.viewer, 'update_issue', project, target),
  webUrl: (call, { project, target }) => issueUrl(call.baseUrl, project.full_path, target.iid),
  ...ownRow('issues'),
};
