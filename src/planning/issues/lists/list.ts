/** The lists of issues. */
import { sql } from 'kysely';
import {
  canSeeMergeRequests,
  hasFeature,
  canSeeConfidential,
  visibleIssues,
  visibleIssuesIn,
} from '../../../core/access/visible.ts';
import { makeLists } from '../../issuables/lists/list.ts';
import { type Filters, issueConditions } from './filters.ts';
import { countByLabels } from './count_by_labels.ts';
import { indexedDue } from './due_filter.ts';
import { seenCount } from '../viewer_fields.ts';
import { totalOfAll } from './totals.ts';

const lists = makeLists<Filters>(
  {
    type: 'Issue',
    table: 'issues',
    own: issueConditions,
    indexed: ({ due_date }, place) => indexedDue(due_date, place),
    visible: visibleIssues,
    visibleIn: visibleIssuesIn,
    isOpen: (viewer, project) => hasFeature(viewer, project, 'issues_access_level'),
    seesAll: canSeeConfidential,
    shown: {
      columns: (viewer, project, dialect) =>
        sql`${seenCount(viewer, project, dialect)} as merge_requests_count`,
      isSeen: canSeeMergeRequests,
    },
    size: ({ opened_issues, closed_issues }) => opened_issues + closed_issues,
    total: totalOfAll,
    byColumn: countByLabels,
  },
  ({ issues_version }) => issues_version,
);

const { list } = lists;
export const {
  listVersions: listIssueVersions,
  listVersionsOnce: listIssueVersionsOnce,
  countByColumn: countIssuesByColumn,
} = lists;

type Query = Parameters<typeof list>[0];

/** A list of issues. Every record has `issue_type=issue`: without that filter the stored totals apply. */
export const listIssues = async (query: Query): ReturnType<typeof list> => {
  const { issue_type, ...others } = query.filters;
  return await list(issue_type === 'issue' ? { ...query, filters: others } : query);
};
