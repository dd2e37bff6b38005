import { findIssue } from '../../../../../planning/issues/find.ts';
import { integer, object, optional } from '../../../../../platform/http/schema.ts';
import { page } from '../../../page.ts';
import { timelineParams, withTimelineChoice } from '../../../parts/timeline/activity_nav.ts';
import { oneIssue, issuesRoutePath } from '../paths.ts';
import { issueView } from './issue_view.ts';

export const showPages = [
  page({
    method: 'GET',
    path: `${issuesRoutePath}/:iid`,
    audience: 'visitor',
    params: object({ ...oneIssue, page: optional(integer()), ...timelineParams }),
    handle: async (visit, { project, iid, page: requested, activity_filter, sort }) =>
      await issueView(
        withTimelineChoice(visit, { activity_filter, sort }),
        await findIssue(visit.call, project, iid),
        {
          page: requested,
        },
      ),
  }),
];
