/** The lists of issues. */
import { hasFeature, seesConfidential, visibleIssues, visibleIssuesIn } from '../access/visible.ts';
import { listsOf } from '../issuables/list.ts';
import { type Filters, ownConditions } from './filters.ts';
import { totalOfAll } from './totals.ts';

export const listIssues = listsOf<Filters>(
  {
    type: 'Issue',
    table: 'issues',
    own: ownConditions,
    measured: () => [],
    visible: visibleIssues,
    visibleIn: visibleIssuesIn,
    isOpen: (viewer, project) => hasFeature(viewer, project, 'issues_access_level'),
    seesAll: seesConfidential,
    total: totalOfAll,
  },
  ({ issues_version }) => issues_version,
);
