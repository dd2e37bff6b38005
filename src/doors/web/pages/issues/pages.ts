/** The issues of a project. */
import { may } from '../../../../core/access/may.ts';
import { notFound } from '../../../../platform/errors.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Project, findProject } from '../../../../projects/projects/find.ts';
import { type Visit, page } from '../../page.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { commentPages } from '../issuables/comment_pages.ts';
import { editCommentPages } from '../issuables/edit_comment_pages.ts';
import { quotePages } from '../issuables/quote_page.ts';
import { followPages } from '../issuables/subscription_and_todo_pages.ts';
import { taskPages } from '../issuables/task_pages.ts';
import { timeTrackingPages } from '../issuables/time_tracking_pages.ts';
import { branchPages } from './actions/branch_pages.ts';
import { changePages } from './actions/change_pages.ts';
import { linkPages } from './actions/link_pages.ts';
import { moveDeletePages } from './actions/move_and_delete_pages.ts';
import { issuesRoutePath } from './paths.ts';
import { editPages } from './form/edit.ts';
import { newPages } from './form/new.ts';
import { similarPages } from './form/similar.ts';
import { issueCsv } from './list/issue_csv.ts';
import { issueCalendar, issueFeed } from './list/issue_feeds.ts';
import { issueList } from './list/list_view.ts';
import { issueListParams } from './list/read_query.ts';
import { issueKind } from './issue_kind.ts';
import type { IssueListScope } from '../issuables/list/list_scope.ts';
import { showPages } from './show/pages.ts';

const feedPath = (project: Project): string => projectPagePath(project, 'issues.atom');

const toPlace = (visit: Visit, project: Project): IssueListScope => {
  const { call } = visit;
  const canCreate = may(call.viewer, 'create_issue', project);
  return {
    scope: { project },
    path: projectPagePath(project, 'issues'),
    project,
    formats: {
      atom: feedPath(project),
      calendar: projectPagePath(project, 'issues.ics'),
      ...(call.signedIn && { csv: projectPagePath(project, 'issues/export') }),
    },
    newPath: canCreate ? projectPagePath(project, 'issues/new') : null,
    view: (title, content) =>
      projectView(
        visit,
        {
          project,
          title,
          noun: 'issues',
          hasHeading: true,
          view: { feeds: [{ title: `${project.full_path} issues`, path: feedPath(project) }] },
        },
        content,
      ),
  };
};

const openPlace = async (visit: Visit, path: string): Promise<IssueListScope> => {
  const project = await findProject(visit.call, path);
  if (!may(visit.call.viewer, 'read_issue', project)) throw notFound();
  return toPlace(visit, project);
};

const csv = page({
  method: 'GET',
  path: `${issuesRoutePath}/export`,
  audience: 'user',
  params: object({ ...projectPath, ...issueListParams }),
  handle: async (visit, { project, ...query }) =>
    await issueCsv(visit, await openPlace(visit, project), query),
});

const list = page({
  method: 'GET',
  path: issuesRoutePath,
  audience: 'visitor',
  params: object({ ...projectPath, ...issueListParams }),
  handle: async (visit, { project, ...query }) =>
    await issueList(visit, await openPlace(visit, project), query),
});

const feed = page({
  method: 'GET',
  path: `${issuesRoutePath}.atom`,
  audience: 'visitor',
  isFeed: true,
  params: object({ ...projectPath, ...issueListParams }),
  handle: async (visit, { project, ...query }) => {
    const place = await openPlace(visit, project);
    const self = place.formats.atom ?? '';
    return await issueFeed(visit, place, query, { title: `${project} issues`, self });
  },
});

const dueDates = page({
  method: 'GET',
  path: `${issuesRoutePath}.ics`,
  audience: 'visitor',
  isFeed: true,
  params: object({ ...projectPath, ...issueListParams }),
  handle: async (visit, { project, ...query }) =>
    await issueCalendar(visit, await openPlace(visit, project), query, `${project} due dates`),
});

export const pages = [
  list,
  csv,
  feed,
  dueDates,
  ...newPages,
  ...similarPages,
  ...showPages,
  ...editPages,
  ...changePages,
  ...timeTrackingPages(issueKind),
  ...taskPages(issueKind),
  ...commentPages(issueKind),
  ...editCommentPages(issueKind),
  ...quotePages(issueKind),
  ...followPages(issueKind),
  ...branchPages,
  ...linkPages,
  ...moveDeletePages,
];
