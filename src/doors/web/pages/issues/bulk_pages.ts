/** The form that changes several issues of a list. */
import { findIssue } from '../../../../planning/issues/find.ts';
import { issueNoun } from '../../../../planning/issues/noun.ts';
import { updateIssue } from '../../../../planning/issues/update.ts';
import { bulkPages } from '../issuables/bulk/pages.ts';

export const pages = bulkPages({
  noun: issueNoun,
  find: findIssue,
  adminAction: 'admin_issue',
  updatedAt: ({ issue }) => issue.updated_at,
  update: updateIssue,
});
