import { may } from '../../core/access/may.ts';
import { ownRow } from '../issuables/target_row.ts';
import type { Noun } from '../issuables/target.ts';
import { findIssue } from './find.ts';
import { issueUrl } from './web_url.ts';

/** Issues as the shared parts (notes, awards, todos) address them. */
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
